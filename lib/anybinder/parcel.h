/* SPDX-License-Identifier: MIT */
/*
 * Parcels: messages. Everything is little-endian and padded to 4 bytes.
 *
 * Writing returns 0; -ENOMEM; -E2BIG past 4 MiB; -EPERM for a received parcel.
 * Once a write failed all later ones fail alike, and so does sending, so a chain
 * of writes needs one check, and ab_parcel_new()'s result none: to all functions a
 * NULL parcel is one that failed with -ENOMEM.
 *
 * Reading trusts nothing and never looks past the end. It returns 0; -ENODATA
 * when the parcel is shorter than that; AB_BAD_TYPE for what makes no sense;
 * AB_UNEXPECTED_NULL for null, where the function does not say that null is
 * fine; -ENOMEM. A read that fails leaves the place where it was, and what it
 * was to fill NULL or 0.
 */
#ifndef ANYBINDER_PARCEL_H
#define ANYBINDER_PARCEL_H

#include "types.h"

AB_BEGIN_DECLS

/**
 * ab_parcel_new() - an empty parcel
 * @conn: whose wire format it has; need not outlive the parcel
 *
 * Return: for ab_parcel_free(); NULL when out of memory.
 */
AB_EXPORT ab_parcel *ab_parcel_new(ab_conn *conn);

/**
 * ab_parcel_free() - free a parcel
 * @parcel: NULL is fine
 *
 * A received one gives its buffer back to the driver: with the thread's next
 * ioctl, or at once if it is large or has objects.
 */
AB_EXPORT void ab_parcel_free(ab_parcel *parcel);

/** ab_parcel_reset() - empty a parcel, keep its memory. */
AB_EXPORT void ab_parcel_reset(ab_parcel *parcel);
/** ab_parcel_error() - Return: the first error of writing, or 0. */
AB_EXPORT int ab_parcel_error(const ab_parcel *parcel);
/** ab_parcel_data() - the bytes of a parcel; valid until it is written to. */
AB_EXPORT const void *ab_parcel_data(const ab_parcel *parcel);
/** ab_parcel_size() - Return: bytes written, or received. */
AB_EXPORT size_t ab_parcel_size(const ab_parcel *parcel);
/** ab_parcel_position() - Return: bytes read so far. */
AB_EXPORT size_t ab_parcel_position(const ab_parcel *parcel);
/** ab_parcel_left() - Return: bytes that can still be read. */
AB_EXPORT size_t ab_parcel_left(const ab_parcel *parcel);

/**
 * ab_parcel_seek() - go on reading elsewhere
 * @parcel: the parcel
 * @position: in bytes, a multiple of 4, at most its size
 *
 * Return: 0; -EINVAL.
 */
AB_EXPORT int ab_parcel_seek(ab_parcel *parcel, size_t position);

/**
 * ab_parcel_mark_sensitive() - have the driver clear every copy when it is done with it
 * @parcel: a request or a reply being written
 */
AB_EXPORT void ab_parcel_mark_sensitive(ab_parcel *parcel);

/* ---- scalars: 4 bytes each, or 8 ---------------------------------------------------------- */

/**
 * ab_write_bool() - a scalar
 * @parcel: the parcel
 * @value: to be written: in 8 bytes if it has 64 bits, else in 4
 *
 * Return: as all that writes.
 */
AB_EXPORT int ab_write_bool(ab_parcel *parcel, bool value);
AB_EXPORT int ab_write_byte(ab_parcel *parcel, int8_t value);
AB_EXPORT int ab_write_char16(ab_parcel *parcel, uint16_t value);
AB_EXPORT int ab_write_int32(ab_parcel *parcel, int32_t value);
AB_EXPORT int ab_write_uint32(ab_parcel *parcel, uint32_t value);
AB_EXPORT int ab_write_int64(ab_parcel *parcel, int64_t value);
AB_EXPORT int ab_write_uint64(ab_parcel *parcel, uint64_t value);
AB_EXPORT int ab_write_float(ab_parcel *parcel, float value);
AB_EXPORT int ab_write_double(ab_parcel *parcel, double value);

/**
 * ab_read_bool() - a scalar
 * @parcel: the parcel
 * @value: receives it; anything but 0 is true
 *
 * Return: as all that reads.
 */
AB_EXPORT int ab_read_bool(ab_parcel *parcel, bool *value);
AB_EXPORT int ab_read_byte(ab_parcel *parcel, int8_t *value);
AB_EXPORT int ab_read_char16(ab_parcel *parcel, uint16_t *value);
AB_EXPORT int ab_read_int32(ab_parcel *parcel, int32_t *value);
AB_EXPORT int ab_read_uint32(ab_parcel *parcel, uint32_t *value);
AB_EXPORT int ab_read_int64(ab_parcel *parcel, int64_t *value);
AB_EXPORT int ab_read_uint64(ab_parcel *parcel, uint64_t *value);
AB_EXPORT int ab_read_float(ab_parcel *parcel, float *value);
AB_EXPORT int ab_read_double(ab_parcel *parcel, double *value);

/**
 * ab_read_null() - is a null string or array next?
 * @parcel: the parcel
 *
 * Return: true, and the null has been read; false, and nothing has.
 */
AB_EXPORT bool ab_read_null(ab_parcel *parcel);

/* ---- strings ------------------------------------------------------------------------------ */

/**
 * ab_write_string16() - a String16, the strings of AIDL
 * @parcel: the parcel
 * @utf8: its text; NULL is the null string
 *
 * Return: as all that writes; -EILSEQ: not UTF-8.
 */
AB_EXPORT int ab_write_string16(ab_parcel *parcel, const char *utf8);

/**
 * ab_write_utf16() - a String16 from its units, any units
 * @parcel: the parcel
 * @units: @count UTF-16 units; NULL is the null string
 * @count: their number
 */
AB_EXPORT int ab_write_utf16(ab_parcel *parcel, const uint16_t *units, size_t count);

/**
 * ab_write_string8() - a length in bytes, UTF-8 text, and a zero byte
 * @parcel: the parcel
 * @utf8: its text; NULL is the null string
 */
AB_EXPORT int ab_write_string8(ab_parcel *parcel, const char *utf8);

/**
 * ab_read_string16() - as UTF-8
 * @parcel: the parcel
 * @utf8: receives the text, for free(). Units that are no text, and zero units, become U+FFFD.
 */
AB_EXPORT int ab_read_string16(ab_parcel *parcel, char **utf8);
/** ab_read_nullable_string16() - as ab_read_string16(); @utf8 is NULL for the null string */
AB_EXPORT int ab_read_nullable_string16(ab_parcel *parcel, char **utf8);

/**
 * ab_read_utf16() - the units of a String16 as they are
 * @parcel: the parcel
 * @units: receives a pointer into the parcel, valid as long as it is
 * @count: receives their number, without the terminating zero
 */
AB_EXPORT int ab_read_utf16(ab_parcel *parcel, const uint16_t **units, size_t *count);

/**
 * ab_read_string8() - text of ab_write_string8()
 * @parcel: the parcel
 * @utf8: receives it, for free(). Bytes that are not UTF-8, and zero bytes, become U+FFFD.
 */
AB_EXPORT int ab_read_string8(ab_parcel *parcel, char **utf8);
/** ab_read_nullable_string8() - as ab_read_string8(); @utf8 is NULL for the null string */
AB_EXPORT int ab_read_nullable_string8(ab_parcel *parcel, char **utf8);

/* ---- arrays: a count, then the elements ----------------------------------------------------
 *
 * Writing NULL writes the null array. Reading gives a copy for free(), never NULL
 * for an array that is there, even if it is empty.
 */

/** ab_write_bytes() - byte[]: not padded but at its end */
AB_EXPORT int ab_write_bytes(ab_parcel *parcel, const void *bytes, size_t count);
/**
 * ab_write_bool_array() - an array of scalars: a count, then each as it is alone
 * @parcel: the parcel
 * @values: @count of them; NULL is the null array
 * @count: their number
 */
AB_EXPORT int ab_write_bool_array(ab_parcel *parcel, const bool *values, size_t count);
AB_EXPORT int ab_write_char16_array(ab_parcel *parcel, const uint16_t *values, size_t count);
AB_EXPORT int ab_write_int32_array(ab_parcel *parcel, const int32_t *values, size_t count);
AB_EXPORT int ab_write_int64_array(ab_parcel *parcel, const int64_t *values, size_t count);
AB_EXPORT int ab_write_float_array(ab_parcel *parcel, const float *values, size_t count);
AB_EXPORT int ab_write_double_array(ab_parcel *parcel, const double *values, size_t count);
/** ab_write_string16_array() - String[]; elements may be NULL */
AB_EXPORT int ab_write_string16_array(ab_parcel *parcel, const char *const *values, size_t count);

/** ab_read_bytes() - points into the parcel, valid as long as it is; not for free() */
AB_EXPORT int ab_read_bytes(ab_parcel *parcel, const void **bytes, size_t *count);
/**
 * ab_read_bool_array() - an array of scalars
 * @parcel: the parcel
 * @values: receives a copy, for free(); never NULL for an array that is there
 * @count: receives their number
 */
AB_EXPORT int ab_read_bool_array(ab_parcel *parcel, bool **values, size_t *count);
AB_EXPORT int ab_read_char16_array(ab_parcel *parcel, uint16_t **values, size_t *count);
AB_EXPORT int ab_read_int32_array(ab_parcel *parcel, int32_t **values, size_t *count);
AB_EXPORT int ab_read_int64_array(ab_parcel *parcel, int64_t **values, size_t *count);
AB_EXPORT int ab_read_float_array(ab_parcel *parcel, float **values, size_t *count);
AB_EXPORT int ab_read_double_array(ab_parcel *parcel, double **values, size_t *count);
/** ab_read_string16_array() - elements may be NULL; for ab_strings_free() */
AB_EXPORT int ab_read_string16_array(ab_parcel *parcel, char ***values, size_t *count);
/** ab_strings_free() - free an array of strings and the strings. NULL is fine. */
AB_EXPORT void ab_strings_free(char **strings, size_t count);

/** ab_write_raw() - bytes without a count, padded with zeros */
AB_EXPORT int ab_write_raw(ab_parcel *parcel, const void *bytes, size_t count);
/** ab_read_raw() - @count bytes and their padding; points into the parcel */
AB_EXPORT int ab_read_raw(ab_parcel *parcel, const void **bytes, size_t count);

/* ---- parcelables ---------------------------------------------------------------------------- */

/**
 * ab_write_parcelable_begin() - a structured parcelable of AIDL: non-null, and its size to come
 * @parcel: the parcel
 * @mark: receives what ab_write_parcelable_end() needs
 */
AB_EXPORT int ab_write_parcelable_begin(ab_parcel *parcel, size_t *mark);
AB_EXPORT int ab_write_parcelable_end(ab_parcel *parcel, size_t mark);
/** ab_write_null_parcelable() - null in its place */
AB_EXPORT int ab_write_null_parcelable(ab_parcel *parcel);

/**
 * ab_read_parcelable_begin() - enter a structured parcelable
 * @parcel: the parcel
 * @end: receives the position behind it. Fields at or behind it are of a newer version
 *       than the writer's and have their defaults.
 *
 * For one that may be null read with ab_read_nullable_parcelable_begin().
 */
AB_EXPORT int ab_read_parcelable_begin(ab_parcel *parcel, size_t *end);
/** ab_read_nullable_parcelable_begin() - the same; @end is 0 for null, which has been read then */
AB_EXPORT int ab_read_nullable_parcelable_begin(ab_parcel *parcel, size_t *end);
/** ab_read_parcelable_end() - leave it, skipping what this reader does not know */
AB_EXPORT int ab_read_parcelable_end(ab_parcel *parcel, size_t end);

/* ---- objects and descriptors ----------------------------------------------------------------- */

/**
 * ab_write_object() - a strong reference to an object
 * @parcel: the parcel; it holds the object until it is freed or reset
 * @object: ours or a proxy of the same connection; NULL is the null object
 *
 * Return: as all that writes; -EXDEV: another connection's proxy.
 */
AB_EXPORT int ab_write_object(ab_parcel *parcel, ab_object *object);

/** ab_write_weak() - a weak reference to an object, or null, as ab_write_object() */
AB_EXPORT int ab_write_weak(ab_parcel *parcel, ab_object *object);

/** ab_write_object_array() - a count, then objects, which may be NULL; NULL is the null array */
AB_EXPORT int ab_write_object_array(ab_parcel *parcel, ab_object *const *objects, size_t count);

/**
 * ab_read_object() - an object that somebody sent
 * @parcel: received, or written in this process
 * @object: receives ours or a proxy, with a reference for the caller
 *
 * An object counts only where the driver says that there is one.
 *
 * Return: as all that reads; -ESTALE: one of ours that is gone; -EBADF: the connection
 * is closed.
 */
AB_EXPORT int ab_read_object(ab_parcel *parcel, ab_object **object);
/** ab_read_nullable_object() - as ab_read_object(); @object is NULL for the null object */
AB_EXPORT int ab_read_nullable_object(ab_parcel *parcel, ab_object **object);

struct ab_weak;
/** ab_read_weak() - a weak reference that somebody sent; @weak is for ab_weak_put() */
AB_EXPORT int ab_read_weak(ab_parcel *parcel, struct ab_weak **weak);
/** ab_read_nullable_weak() - as ab_read_weak(); @weak is NULL for the null object */
AB_EXPORT int ab_read_nullable_weak(ab_parcel *parcel, struct ab_weak **weak);

/** ab_read_object_array() - each for ab_object_put(), or NULL; the array for free() */
AB_EXPORT int ab_read_object_array(ab_parcel *parcel, ab_object ***objects, size_t *count);

/**
 * ab_write_fd() - a file descriptor
 * @parcel: the parcel; keeps a duplicate until it is freed or reset
 * @fd: any open descriptor
 *
 * anybinder's own drivers refuse descriptors so far: the call fails with -ECOMM.
 *
 * Return: as all that writes; the errors of dup().
 */
AB_EXPORT int ab_write_fd(ab_parcel *parcel, int fd);
/** ab_write_parcel_fd() - a ParcelFileDescriptor: non-null, no channel, the descriptor */
AB_EXPORT int ab_write_parcel_fd(ab_parcel *parcel, int fd);

/**
 * ab_read_fd() - a descriptor that somebody sent
 * @parcel: received; keeps the descriptor and closes it when it is freed
 * @fd: receives a duplicate, close-on-exec, for close(); -1 after an error
 *
 * Return: as all that reads; the errors of dup().
 */
AB_EXPORT int ab_read_fd(ab_parcel *parcel, int *fd);
/** ab_read_parcel_fd() - a descriptor of ab_write_parcel_fd() */
AB_EXPORT int ab_read_parcel_fd(ab_parcel *parcel, int *fd);

AB_END_DECLS

#endif
