// SPDX-License-Identifier: MIT
/* What `anybinder bench compare` found: a table for each payload, and figures to reach. */
#include "tools/bench_compare.h"

#include <string.h>

/** enum kind - how ours and the peer become one value */
enum kind {
	TIME,	/* ratio of the average times of a call: at most @goal */
	CALLS,	/* ratio of calls/s: at least @goal */
	LESS,	/* difference of the median times, microseconds: at most @goal */
};

/**
 * struct figure_wanted - a figure that is to be reached
 * @payload: index in payloads[]
 */
static const struct figure_wanted {
	const char *name;
	enum kind kind;
	int payload;
	bool pin;
	const char *peer;
	double goal;
} wanted[] = {
	{ "us a call more, 16 bytes, one CPU", LESS, 0, true, "raw", 1.0 },
	{ "time, 16 bytes, one CPU", TIME, 0, true, "sd-bus", 0.70 },
	{ "time, 16 bytes, one CPU", TIME, 0, true, "seqpacket", 3.5 },
	{ "time, 16 bytes, any CPU", TIME, 0, false, "sd-bus", 1.0 },
	{ "calls/s, 64 KiB, one CPU", CALLS, 1, true, "sd-bus", 4.0 },
	{ "calls/s, 64 KiB, any CPU", CALLS, 1, false, "sd-bus", 4.0 },
};

static const char *const kind_key[] = {
	[TIME] = "avg_us", [CALLS] = "iter_per_s", [LESS] = "p50_us",
};

/* The median over the rounds of the quotient, or the difference, of two in one round. */
static double of_two(const struct cell *a, const struct cell *b, enum figure figure, bool less,
		     int rounds)
{
	double values[COMPARE_ROUNDS_MAX];

	for (int i = 0; i < rounds; i++) {
		double x = a->runs[i].figure[figure], y = b->runs[i].figure[figure];

		values[i] = less ? x - y : x / y;
	}
	return median_of(values, rounds);
}

static const struct row *row_of(const struct comparison *c, const char *peer)
{
	for (int i = 0; i < c->nr_rows; i++) {
		if (!strcmp(c->rows[i].peer->name, peer))
			return &c->rows[i];
	}
	return NULL;
}

/* How many times as long as ours a call takes. */
static double to_ours(const struct comparison *c, const struct row *row, int payload, int pin)
{
	return of_two(&row->cells[payload][pin], &c->rows[0].cells[payload][pin], AVG_US, false,
		      c->rounds);
}

/* ---- tables ---------------------------------------------------------------- */

static void print_half(const struct comparison *c, const struct row *row, int payload, int pin)
{
	const double *figure = row->cells[payload][pin].median.figure;

	printf(" | %8.0f %7.1f %7.1f %7.1f %6.2f", figure[ITER_PER_S], figure[AVG_US],
	       figure[P50_US], figure[P99_US], to_ours(c, row, payload, pin));
}

static void print_table(const struct comparison *c, int payload)
{
	printf("\n%zu bytes there and back\n", c->payloads[payload]);
	printf("%-21s | %-39s | %-39s | ioctls per call\n", "", "all on one CPU", "on any CPU");
	printf("%-21s", "");
	for (int i = 0; i < 2; i++)
		printf(" | %8s %7s %7s %7s %6s", "calls/s", "avg us", "p50 us", "p99 us", "x ours");
	printf(" | served  made\n");
	for (int i = 0; i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];
		const double *pinned = row->cells[payload][1].median.figure;

		if (row->left_out[0])
			continue;
		printf("%-21s", row->title);
		print_half(c, row, payload, 1);
		print_half(c, row, payload, 0);
		if (pinned[SERVER_IOCTLS] >= 0)
			printf(" | %6.2f %5.2f\n", pinned[SERVER_IOCTLS], pinned[CLIENT_IOCTLS]);
		else
			printf(" |\n");
	}
}

static void print_left_out(const struct comparison *c)
{
	bool first = true;

	for (int i = 0; i < c->nr_rows; i++) {
		if (!c->rows[i].left_out[0])
			continue;
		if (first)
			printf("\nleft out\n");
		first = false;
		printf("%-21s %s\n", c->rows[i].title, c->rows[i].left_out);
	}
}

/* ---- figures to reach ---------------------------------------------------------------- */

static void wanted_json(const struct comparison *c, const struct figure_wanted *w, double value,
			double other, FILE *json)
{
	const char *what = w->kind == LESS ? "difference" : "ratio";
	const char *sign = w->kind == LESS ? "-" : "/";

	fprintf(json, "{\"bench\":\"compare\",\"%s\":\"ours%s%s\",\"of\":\"%s\",\"payload\":%zu",
		what, sign, w->peer, kind_key[w->kind], c->payloads[w->payload]);
	fprintf(json, ",\"pinned\":%s,\"value\":%.3f,\"value_by_%s\":%.3f,\"%s\":%.2f}\n",
		w->pin ? "true" : "false", value, w->kind == LESS ? "avg" : "p50", other,
		w->kind == CALLS ? "at_least" : "at_most", w->goal);
}

/* Averages have what else the machine did in them, medians do not: both are said. */
static void print_wanted(const struct comparison *c, const struct figure_wanted *w, FILE *json)
{
	const struct row *row = row_of(c, w->peer);
	const struct cell *ours = &c->rows[0].cells[w->payload][w->pin];
	const struct cell *theirs = &row->cells[w->payload][w->pin];
	bool less = w->kind == LESS;
	double value, other;

	if (row->left_out[0]) {
		printf("%-34s %-10s %8s %8s   not measured\n", w->name, w->peer, "", "");
		return;
	}
	value = of_two(ours, theirs, less ? P50_US : w->kind == CALLS ? ITER_PER_S : AVG_US, less,
		       c->rounds);
	other = of_two(ours, theirs, less ? AVG_US : P50_US, less, c->rounds);
	if (w->kind == CALLS)
		other = 1 / other;
	printf("%-34s %-10s %8.2f %8.2f   %s %.2f: %s\n", w->name, w->peer,
	       less ? other : value, less ? value : other,
	       w->kind == CALLS ? "at least" : "at most", w->goal,
	       (w->kind == CALLS ? value >= w->goal : value <= w->goal) ? "met" : "missed");
	if (json)
		wanted_json(c, w, value, other, json);
}

/* ---- all of it ---------------------------------------------------------------- */

static void cell_json(const struct comparison *c, const struct row *row, int payload, int pin,
		      FILE *json)
{
	const struct cell *cell = &row->cells[payload][pin];

	outcome_json_begin(json, "compare", row->peer, &cell->load, &cell->median, c->rounds);
	if (row->peer->version)
		fprintf(json, ",\"version\":\"%s\"", row->peer->version);
	fprintf(json, ",\"times_ours\":%.3f", to_ours(c, row, payload, pin));
	outcome_json_distribution(json, &cell->latency);
	fprintf(json, "}\n");
}

static void row_report(const struct comparison *c, struct row *row, FILE *json)
{
	if (row->left_out[0]) {
		if (json)
			fprintf(json, "{\"bench\":\"compare\",\"peer\":\"%s\",\"left_out\":true}\n",
				row->peer->name);
		return;
	}
	for (int i = 0; i < 2 * COMPARE_PAYLOADS; i++) {
		struct cell *cell = &row->cells[i / 2][i % 2];

		outcome_median(&cell->median, cell->runs, c->rounds);
		if (json)
			cell_json(c, row, i / 2, i % 2, json);
	}
}

/**
 * compare_report() - print what was measured; the cells' medians are found here
 * @json: receives it too, an object a line; may be NULL
 */
void compare_report(struct comparison *c, FILE *json)
{
	for (int i = 0; i < c->nr_rows; i++)
		row_report(c, &c->rows[i], json);
	for (int payload = 0; payload < COMPARE_PAYLOADS; payload++)
		print_table(c, payload);
	print_left_out(c);
	printf("\n%-34s %-10s %8s %8s   goal\n", "anybinder against", "", "by avg", "by p50");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		print_wanted(c, &wanted[i], json);
}
