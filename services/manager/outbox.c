// SPDX-License-Identifier: MIT
/*
 * One-way calls to be made. While one is made, calls are served and deaths heard
 * of, so each is taken off before it is sent, and serving only adds to the end.
 */
#include "manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

/* The only call of both callback interfaces. */
#define ON_CHANGE 1

/** struct letter - one of them; @user: whose callback it is; counted */
struct letter {
	struct sm_list list;
	ab_object *target;
	struct sm_user *user;
	ab_parcel *parcel;
	char what[160];
};

static void letter_free(struct sm_manager *m, struct letter *letter)
{
	ab_object_put(letter->target);
	sm_user_put(m, letter->user);
	ab_parcel_free(letter->parcel);
	free(letter);
}

/**
 * sm_outbox_put() - have a callback called
 * @m: the manager
 * @target: the callback; a reference is taken
 * @user: whose it is; a reference is taken
 * @parcel: what to send; taken
 * @what: it is about, for people
 *
 * What there is no memory for is said and lost, as is what cannot be sent.
 */
void sm_outbox_put(struct sm_manager *m, ab_object *target, struct sm_user *user,
		   ab_parcel *parcel, const char *what)
{
	struct letter *letter = ab_parcel_error(parcel) ? NULL : calloc(1, sizeof(*letter));
	char text[240];

	if (!letter) {
		ab_parcel_free(parcel);
		snprintf(text, sizeof(text), "%s: out of memory; this message is lost", what);
		sm_user_line(m, user, SM_NOT_TOLD, 0, text);
		return;
	}
	letter->target = ab_object_get(target);
	letter->user = user;
	user->refs++;
	letter->parcel = parcel;
	snprintf(letter->what, sizeof(letter->what), "%s", what);
	sm_list_add_tail(&m->outbox, &letter->list);
	m->nr_outbox++;
}

static struct letter *take(struct sm_manager *m)
{
	struct letter *letter;

	if (sm_list_empty(&m->outbox))
		return NULL;
	letter = sm_container(m->outbox.next, struct letter, list);
	sm_list_del(&letter->list);
	m->nr_outbox--;
	return letter;
}

/* The dead are no news: what they had ends when their death is heard of. */
static void send(struct sm_manager *m, const struct letter *letter)
{
	int ret = ab_call_oneway(letter->target, ON_CHANGE, letter->parcel);
	char text[480], why[240];

	if (!ret || ret == -EPIPE)
		return;
	snprintf(text, sizeof(text), "%s: %s; this message is lost", letter->what,
		 ab_error_text(m->conn, ret, why, sizeof(why)));
	sm_user_line(m, letter->user, SM_NOT_TOLD, 0, text);
}

/** sm_outbox_send() - make all the calls; does nothing inside of itself */
void sm_outbox_send(struct sm_manager *m)
{
	struct letter *letter;

	if (m->sending)
		return;
	m->sending = true;
	while ((letter = take(m))) {
		send(m, letter);
		letter_free(m, letter);
	}
	m->sending = false;
}

/** sm_outbox_drop() - forget the calls */
void sm_outbox_drop(struct sm_manager *m)
{
	struct letter *letter;

	while ((letter = take(m)))
		letter_free(m, letter);
}
