/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock checker of the user-space hosts: always on. Every lock embeds a
 * witness that knows its rank (core/lock_ranks.h) and its owner; every thread
 * has a stack of the locks it holds. A broken rule goes to
 * binder_kapi_fatal(), before the lock itself is touched:
 *
 *   a ranked lock taken while one of the same or a higher rank is held
 *   (a trylock is exempt, but what is taken after it is checked against it)
 *   a lock taken twice; unlocked when free; unlocked by another thread
 *   a sleeping call or a mutex while a spinlock is held
 *   memory freed with a lock in it that the freeing thread holds
 *
 * Not seen: freed memory with a lock another thread holds (AddressSanitizer
 * sees its use), and the order of unranked locks.
 */
#ifndef USER_KAPI_BINDER_WITNESS_H
#define USER_KAPI_BINDER_WITNESS_H

#include <linux/compiler.h>
#include <linux/types.h>

#define BINDER_WITNESS_UNRANKED (-1)
/* May not be held while sleeping. */
#define BINDER_WITNESS_SPIN 1u

struct binder_witness {
	/* Relaxed atomic. Only the holder writes it; another thread may compare
	 * it with itself, and then any stale value gives the right answer. */
	const void *owner;
	/* immutable after init: */
	const char *name;
	s32 rank;
	u32 flags;
};

#define BINDER_WITNESS_INIT(name_, flags_) \
	{ .owner = NULL, .name = (name_), .rank = BINDER_WITNESS_UNRANKED, .flags = (flags_) }

/** binder_witness_init() - @rank from core/lock_ranks.h or BINDER_WITNESS_UNRANKED */
void binder_witness_init(struct binder_witness *w, int rank, const char *name, unsigned int flags);

/** binder_witness_lock() - check, before waiting for the lock */
void binder_witness_lock(struct binder_witness *w, const char *site);
/** binder_witness_locked() - the calling thread has got the lock, by waiting or trying */
void binder_witness_locked(struct binder_witness *w, const char *site);
/** binder_witness_unlock() - check and forget, before the lock is released */
void binder_witness_unlock(struct binder_witness *w, const char *site);
/** binder_witness_held() - does the calling thread hold it? */
bool binder_witness_held(const struct binder_witness *w);

/** binder_witness_assert_held() - fatal unless the calling thread holds it */
void binder_witness_assert_held(const struct binder_witness *w, const char *expr,
				const char *site);
/** binder_witness_assert_none() - fatal if the calling thread holds any lock */
void binder_witness_assert_none(const char *site);
/** binder_witness_check_free() - fatal if [ptr, ptr+len) contains a lock the caller holds */
void binder_witness_check_free(const void *ptr, size_t len, const char *site);
/** binder_witness_depth() - number of locks the calling thread holds */
unsigned int binder_witness_depth(void);
/** binder_might_sleep() - fatal if the calling thread holds a spinlock */
void binder_might_sleep(const char *site);

#define lockdep_assert_held(lock) \
	binder_witness_assert_held(&(lock)->witness, #lock, BINDER_SITE)

#endif
