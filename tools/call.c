// SPDX-License-Identifier: MIT
/* `anybinder call`: call a service from the command line. */
#include "tools/call.h"
#include "tools/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
"Usage: anybinder call [OPTIONS] NAME CODE [TYPE VALUE]...\n"
"\n"
"Call a service. NAME is - for the context manager. CODE is a number, or a meta\n"
"call of four characters such as _PNG. Arguments:\n"
"\n"
"  i8 i32 u32 i64 u64 N   whole numbers, also 0x...      f32 f64 X  floating point\n"
"  bool true|false        s16 TEXT  String16            s8 TEXT    String8\n"
"  bytes HEX              byte[]    raw HEX    bytes without a count\n"
"  obj NAME               a service's object            nullobj    the null object\n"
"  null                   a null string or array        fd pfd PATH  a file, opened\n"
"\n"
"      --interface=NAME   of the token; otherwise the service is asked for it\n"
"      --no-token         no interface token in front of the arguments\n"
"      --oneway           do not wait for a reply\n"
"      --reply=TYPES      what the reply holds, such as status,i32,s16; also s16array, obj\n"
COMMON_HELP
"\n"
"Options go before NAME.\n"
"Exit status: 0 done, 1 failed or an exception came back, 2 used wrongly.\n";

struct request {
	struct common common;
	const char *name; /* NULL: the context manager */
	const char *interface, *reply;
	uint32_t code;
	bool no_token, oneway;
	char **words;
};

static bool parse_code(const char *text, uint32_t *code)
{
	unsigned long long value;
	char *end;

	if (text[0] == '_' && strlen(text) == 4) {
		*code = AB_META(text[0], text[1], text[2], text[3]);
		return true;
	}
	value = strtoull(text, &end, 0);
	*code = (uint32_t)value;
	return end != text && !*end && value <= UINT32_MAX && text[0] != '-';
}

static int parse(struct request *r, int argc, char **argv)
{
	static const struct option options[] = {
		COMMON_OPTIONS,
		{ "interface", required_argument, NULL, 'I' },
		{ "no-token", no_argument, NULL, 'n' },
		{ "oneway", no_argument, NULL, 'o' },
		{ "reply", required_argument, NULL, 'r' },
		{ 0 },
	};
	int opt, code;

	/* Behind the name all is arguments: -5 is a number there. */
	while ((opt = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (opt == 'I') {
			r->interface = optarg;
		} else if (opt == 'n') {
			r->no_token = true;
		} else if (opt == 'o') {
			r->oneway = true;
		} else if (opt == 'r') {
			r->reply = optarg;
			if (!call_types_known(optarg))
				return usage_error("call ", "--reply=%s: there is a type that is none",
						   optarg);
		} else {
			code = common_option(&r->common, opt, help);
			if (code != COMMON_NEXT)
				return code;
		}
	}
	if (argc - optind < 2)
		return usage_error("call ", "which service, and which code?");
	r->name = strcmp(argv[optind], "-") ? argv[optind] : NULL;
	if (!parse_code(argv[optind + 1], &r->code))
		return usage_error("call ", "\"%s\" is no code", argv[optind + 1]);
	r->words = argv + optind + 2;
	return COMMON_NEXT;
}

/* Meta calls have no token. */
static int write_token(const struct request *r, ab_conn *conn, ab_object *object, ab_parcel *in)
{
	char *interface;
	int ret;

	if (r->no_token || r->code < AB_CALL_FIRST || r->code > AB_CALL_LAST)
		return EXIT_OK;
	if (r->interface) {
		ab_write_token(in, r->interface);
		return EXIT_OK;
	}
	ret = ab_interface(object, &interface);
	if (ret)
		return common_error(&r->common, conn, ret, "ask %s for its interface (name it with "
				    "--interface)", target_text(r->name));
	ab_write_token(in, interface);
	free(interface);
	return EXIT_OK;
}

static int call(const struct request *r, ab_conn *conn, ab_object *object, ab_parcel *in)
{
	ab_parcel *out = NULL;
	int code, ret;

	ret = r->oneway ? ab_call_oneway(object, r->code, in)
			: ab_call(object, r->code, in, &out);
	if (ret)
		return common_error(&r->common, conn, ret, "call %u of %s", r->code,
				    target_text(r->name));
	code = out ? call_print(&r->common, conn, out, r->reply) : EXIT_OK;
	ab_parcel_free(out);
	return code;
}

/** command_call() - call a service. */
int command_call(int argc, char **argv)
{
	struct request r = { .common = { .name = "call", .device = DEVICE_DEFAULT } };
	int code = parse(&r, argc, argv);
	ab_object *object = NULL;
	ab_parcel *in = NULL;
	ab_conn *conn;

	if (code != COMMON_NEXT)
		return code;
	code = common_open(&r.common, &conn);
	if (code)
		return code;
	code = target_find(&r.common, conn, r.name, &object);
	if (!code) {
		in = ab_parcel_new(conn);
		code = write_token(&r, conn, object, in);
	}
	if (!code)
		code = call_write(&r.common, conn, in, r.words);
	if (!code)
		code = call(&r, conn, object, in);
	ab_parcel_free(in);
	ab_object_put(object);
	ab_close(conn);
	return code;
}
