// SPDX-License-Identifier: MIT
/*
 * The library's header in C++: as it is, without wrappers. Every function is linked to, and
 * a program of the usual kind runs over a scripted driver.
 */
#include <anybinder.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

/* Of the driver of lib_fake.c, whose header is C. */
extern "C" void fake_reset(void);

namespace {

void check(bool fine, const char *what, int line)
{
	if (fine)
		return;
	std::fprintf(stderr, "lib_cpp.cc:%d: not true: %s\n", line, what);
	std::exit(1);
}

#define CHECK(what) check(what, #what, __LINE__)

/* ---- every function ----------------------------------------------------------------------- */

typedef void any_function();

template <typename T> any_function *address(T *function)
{
	return reinterpret_cast<any_function *>(function);
}

/* The build makes this list of the library's symbol map: a line USE(name) for each function. */
#define USE(name) address(&name),
any_function *const functions[] = {
#include "lib_names.inc"
};
#undef USE

/* ---- resources that let go of themselves --------------------------------------------------- */

template <typename T, void (*put)(T *)> struct Put {
	void operator()(T *what) const { put(what); }
};

typedef std::unique_ptr<ab_conn, Put<ab_conn, ab_close>> Conn;
typedef std::unique_ptr<ab_object, Put<ab_object, ab_object_put>> Object;
typedef std::unique_ptr<ab_parcel, Put<ab_parcel, ab_parcel_free>> Parcel;

/* An object of ours that is a C++ object. */
class Greeter {
public:
	explicit Greeter(const char *greeting) : word(greeting) { alive++; }
	~Greeter() { alive--; }

	int greet(ab_parcel *in, ab_parcel *out)
	{
		char *name;
		int ret = ab_read_string16(in, &name);

		if (ret)
			return ret;
		ab_write_status(out, AB_EX_NONE, 0, nullptr);
		ab_write_string16(out, (word + ", " + name).c_str());
		std::free(name);
		return 0;
	}

	static int alive;
	static const ab_class cls;

private:
	std::string word;
};

int Greeter::alive;

const ab_class Greeter::cls = {
	"org.example.IGreeter",
	[](void *data, const ab_call_info *info, ab_parcel *in, ab_parcel *out) {
		if (info->code != AB_CALL_FIRST)
			return AB_UNKNOWN_TRANSACTION;
		return static_cast<Greeter *>(data)->greet(in, out);
	},
	nullptr,
	[](void *data) { delete static_cast<Greeter *>(data); },
	0,
};

/* ---- a program ----------------------------------------------------------------------------- */

void test_call(ab_conn *conn)
{
	Object object(ab_object_new(conn, &Greeter::cls, new Greeter("hello")));
	Parcel in(ab_parcel_new(conn));
	ab_parcel *reply = nullptr;
	char *text = nullptr;

	CHECK(object && Greeter::alive == 1);
	ab_write_token(in.get(), "org.example.IGreeter");
	CHECK(ab_write_string16(in.get(), "you") == 0);
	CHECK(ab_call(object.get(), AB_CALL_FIRST, in.get(), &reply) == 0);
	Parcel out(reply);
	CHECK(ab_read_status(out.get(), nullptr) == 0);
	CHECK(ab_read_string16(out.get(), &text) == 0);
	CHECK(std::string("hello, you") == text);
	std::free(text);
	reply = nullptr;
	CHECK(ab_call(object.get(), 2, in.get(), &reply) == AB_UNKNOWN_TRANSACTION && !reply);
	object.reset();
	CHECK(Greeter::alive == 0);
}

void test_parcel(ab_conn *conn)
{
	const std::vector<int32_t> numbers = { 1, -2, 3 };
	const char *const words[] = { "a", nullptr };
	Parcel parcel(ab_parcel_new(conn));
	int32_t *ints = nullptr;
	char **strings = nullptr;
	std::size_t nr = 0, mark = 0;
	double number = 0;
	bool yes = false;

	ab_write_bool(parcel.get(), true);
	ab_write_double(parcel.get(), 0.5);
	ab_write_int32_array(parcel.get(), numbers.data(), numbers.size());
	ab_write_string16_array(parcel.get(), words, 2);
	ab_write_parcelable_begin(parcel.get(), &mark);
	CHECK(ab_write_parcelable_end(parcel.get(), mark) == 0);
	CHECK(ab_read_bool(parcel.get(), &yes) == 0 && yes);
	CHECK(ab_read_double(parcel.get(), &number) == 0 && number == 0.5);
	CHECK(ab_read_int32_array(parcel.get(), &ints, &nr) == 0);
	CHECK(std::vector<int32_t>(ints, ints + nr) == numbers);
	std::free(ints);
	CHECK(ab_read_string16_array(parcel.get(), &strings, &nr) == 0);
	CHECK(nr == 2 && !std::strcmp(strings[0], "a") && !strings[1]);
	ab_strings_free(strings, nr);
	CHECK(ab_read_nullable_parcelable_begin(parcel.get(), &mark) == 0 && mark);
	CHECK(ab_parcel_left(parcel.get()) == 0);
}

void test_weak(ab_conn *conn)
{
	Object object(ab_object_new(conn, &Greeter::cls, new Greeter("")));
	std::unique_ptr<ab_weak, Put<ab_weak, ab_weak_put>> weak(ab_weak_new(object.get()));
	ab_object *again = nullptr;

	CHECK(ab_weak_lock(weak.get(), &again) == 0 && again == object.get());
	ab_object_put(again);
	object.reset();
	CHECK(ab_weak_lock(weak.get(), &again) == -ESTALE && !again);
}

} // namespace

int main()
{
	for (any_function *function : functions)
		CHECK(function != nullptr);
	std::printf("%zu functions\n", sizeof(functions) / sizeof(functions[0]));
	fake_reset();
	{
		ab_options options = {};
		ab_conn *conn = nullptr;

		options.variant = AB_ANDROID_14;
		CHECK(ab_open(&conn, "a", &options) == 0);
		Conn owner(conn);
		test_call(conn);
		test_parcel(conn);
		test_weak(conn);
		CHECK(ab_conn_variant(conn) == AB_ANDROID_14);
		CHECK(ab_variant_code(AB_ANDROID_14, AB_SM_ADD) == 3);
	}
	fake_reset();
	std::puts("ok");
	return 0;
}
