/* SPDX-License-Identifier: MIT */
/*
 * What differs between Android releases on the wire: interface tokens, the
 * stability word behind objects, status headers, and the service manager's
 * codes. All of it is data; a connection speaks one variant.
 */
#ifndef ANYBINDER_WIRE_H
#define ANYBINDER_WIRE_H

#include "types.h"

AB_BEGIN_DECLS

/** enum ab_variant - a release, and those that write like it */
enum ab_variant {
	AB_VARIANT_DEFAULT = 0, /* as AB_ANDROID_13 */
	AB_ANDROID_8,		/* and before; API level 27 and below */
	AB_ANDROID_9,		/* 28 */
	AB_ANDROID_10,		/* 29 */
	AB_ANDROID_11,		/* 30 */
	AB_ANDROID_12,		/* 31, 32 */
	AB_ANDROID_13,		/* 33 */
	AB_ANDROID_14,		/* 34 */
	AB_ANDROID_15,		/* 35 */
	AB_ANDROID_16,		/* 36 and above */
};

/** enum ab_manager_call - the calls of android.os.IServiceManager */
enum ab_manager_call {
	AB_SM_GET,
	AB_SM_GET2,
	AB_SM_CHECK,
	AB_SM_CHECK2,
	AB_SM_ADD,
	AB_SM_LIST,
	AB_SM_REGISTER_FOR_NOTIFICATIONS,
	AB_SM_UNREGISTER_FOR_NOTIFICATIONS,
	AB_SM_IS_DECLARED,
	AB_SM_GET_DECLARED_INSTANCES,
	AB_SM_UPDATABLE_VIA_APEX,
	AB_SM_GET_UPDATABLE_NAMES,
	AB_SM_GET_CONNECTION_INFO,
	AB_SM_REGISTER_CLIENT_CALLBACK,
	AB_SM_TRY_UNREGISTER,
	AB_SM_GET_DEBUG_INFO,
	AB_SM_NR,
};

/**
 * ab_variant_parse() - a variant by its name
 * @text: "8" to "16", "android13", or an API level: "27" to "36"
 * @variant: receives it
 *
 * Return: 0; -EINVAL.
 */
AB_EXPORT int ab_variant_parse(const char *text, enum ab_variant *variant);

/** ab_variant_name() - Return: a constant such as "13"; "?" for what is none. */
AB_EXPORT const char *ab_variant_name(enum ab_variant variant);

/** ab_variant_has_status() - do the service manager's replies begin with a status? (11 on) */
AB_EXPORT bool ab_variant_has_status(enum ab_variant variant);

/** ab_variant_has_priority() - do its add and list take dump flags? (9 on) */
AB_EXPORT bool ab_variant_has_priority(enum ab_variant variant);

/**
 * ab_variant_code() - the code of a service manager's call
 * @variant: a release
 * @call: the call
 *
 * Return: the code, 1 or above; 0 when the release has no such call.
 */
AB_EXPORT uint32_t ab_variant_code(enum ab_variant variant, enum ab_manager_call call);

/**
 * ab_variant_call() - which call of the service manager a code means
 * @variant: a release
 * @code: received
 *
 * Return: the call; AB_SM_NR when the release has none of that code.
 */
AB_EXPORT enum ab_manager_call ab_variant_call(enum ab_variant variant, uint32_t code);

/**
 * ab_write_token() - begin a request: the header of the release, and the interface's name
 * @parcel: an empty parcel
 * @interface: the name, such as "android.os.IServiceManager"
 *
 * Return: as all that writes.
 */
AB_EXPORT int ab_write_token(ab_parcel *parcel, const char *interface);

/**
 * ab_read_token() - check the beginning of a request
 * @parcel: received
 * @interface: the name it must have
 *
 * Objects whose class has an interface do this themselves.
 *
 * Return: 0; AB_BAD_TYPE: another interface's, or another release's header; as all
 * that reads.
 */
AB_EXPORT int ab_read_token(ab_parcel *parcel, const char *interface);

/* Exceptions of AIDL, in struct ab_status. */
#define AB_EX_NONE 0
#define AB_EX_SECURITY (-1)
#define AB_EX_BAD_PARCELABLE (-2)
#define AB_EX_ILLEGAL_ARGUMENT (-3)
#define AB_EX_NULL_POINTER (-4)
#define AB_EX_ILLEGAL_STATE (-5)
#define AB_EX_NETWORK_MAIN_THREAD (-6)
#define AB_EX_UNSUPPORTED_OPERATION (-7)
#define AB_EX_SERVICE_SPECIFIC (-8)
#define AB_EX_PARCELABLE (-9)

/**
 * struct ab_status - what an AIDL reply begins with
 * @exception: AB_EX_...
 * @service_error: the service's own number, with AB_EX_SERVICE_SPECIFIC
 * @message: UTF-8, owned, for ab_status_fini(); NULL when there is none, or an empty one
 */
struct ab_status {
	int32_t exception;
	int32_t service_error;
	char *message;
};

/**
 * ab_write_status() - begin an AIDL reply
 * @parcel: an empty parcel
 * @exception: AB_EX_NONE, or why there is no result: then nothing follows
 * @service_error: only for AB_EX_SERVICE_SPECIFIC
 * @message: for people, UTF-8; NULL and "" are none
 *
 * Return: as all that writes.
 */
AB_EXPORT int ab_write_status(ab_parcel *parcel, int32_t exception, int32_t service_error,
			      const char *message);

/**
 * ab_read_status() - read the beginning of an AIDL reply
 * @parcel: a reply
 * @status: filled in all cases, for ab_status_fini(); NULL when only success matters
 *
 * Return: 0: the result follows; -EREMOTEIO: the object sent an exception, and
 * @status has it; as all that reads.
 */
AB_EXPORT int ab_read_status(ab_parcel *parcel, struct ab_status *status);

/** ab_status_fini() - free what a status owns */
AB_EXPORT void ab_status_fini(struct ab_status *status);

/** ab_exception_name() - Return: a constant such as "security"; "unknown" for others. */
AB_EXPORT const char *ab_exception_name(int32_t exception);

AB_END_DECLS

#endif
