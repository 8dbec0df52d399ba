/* SPDX-License-Identifier: MIT */
/* What all the public headers share. */
#ifndef ANYBINDER_TYPES_H
#define ANYBINDER_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
#define AB_BEGIN_DECLS extern "C" {
#define AB_END_DECLS }
#else
#define AB_BEGIN_DECLS
#define AB_END_DECLS
#endif

#define AB_EXPORT __attribute__((visibility("default")))

typedef struct ab_conn ab_conn;
typedef struct ab_object ab_object;
typedef struct ab_parcel ab_parcel;

#endif
