// Recent sums of two files in memory, whose records may be lost, late, sent twice, or forgotten in
// a restart: what the sums confirm is compared with what the peer really holds.
import { createHash } from 'node:crypto';
import { recentSpanMs, recentSpansMax } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { RecentRows } from '@ringwright/partition/file/recent-rows';
import type { WriteOutcome } from '@ringwright/partition/file/record';
import { expect, test } from 'vitest';
import { compareRecent, stampAge } from './compare-holders.ts';

interface Given {
  readonly key: number;
  readonly ms: number;
}

/** The last write by `ms` wins; rows are numbered as they arrive. */
class ModelFile {
  readonly rows = new Map<number, { ms: number; seq: number }>();
  seq = 0;
  recent = new RecentRows(0);

  give({ key, ms }: Given): void {
    const held = this.rows.get(key);
    const kind = held === undefined || held.ms < ms ? 'applied' : 'stale';
    if (held?.ms === ms) return;
    if (kind === 'applied') this.rows.set(key, { ms, seq: ++this.seq });
    const row = { key: Buffer.of(key), value: null, ms, tie: 0, expiresMs: 0, origin: null };
    const hash = createHash('sha256').update(`${key} ${ms}`).digest().subarray(0, 8);
    const outcome: WriteOutcome =
      kind === 'applied' ? { kind } : { kind, ms: held?.ms ?? 0, tie: 0 };
    this.recent.note({ ...row, hash, isPreparedBallot: false }, outcome, this.seq);
  }

  restart(): void {
    this.recent = new RecentRows(this.seq);
  }

  /** Whether this file holds all rows of `other` up to a sequence, or newer ones. */
  holds(other: ModelFile, seq: number): boolean {
    return [...other.rows].every(
      ([key, row]) => row.seq > seq || (this.rows.get(key)?.ms ?? -1) >= row.ms,
    );
  }
}

interface Sizes {
  readonly random: Random;
  /** One in this many records is lost at one of the two files; 0: none. */
  readonly lossOneIn: number;
}

function step({ random, lossOneIn }: Sizes, now: number, files: readonly ModelFile[]): void {
  const late = random.below(10) === 0 ? random.below(12 * recentSpanMs) : random.below(200);
  const ahead = random.below(2_000) === 0 ? 3_600_000 : 0;
  const given = { key: random.below(30), ms: Math.max(1, now - late) + ahead };
  const lost = lossOneIn > 0 && random.below(lossOneIn) === 0 ? random.below(2) : -1;
  const times = random.below(20) === 0 ? 2 : 1;
  for (const [index, file] of files.entries()) {
    if (index !== lost) file.give(given);
    if (times === 2 && random.below(2) === 0) file.give(given);
  }
}

test.each([1, 2, 3, 4, 5, 6])('the sums confirm no more than the peer has, seed %i', (seed) => {
  const random = seededRandom(seed);
  const mine = new ModelFile();
  const peer = new ModelFile();
  let [since, now, raised] = [0, 100_000, 0];
  for (let at = 0; at < 20_000; at += 1) {
    now += random.below(60);
    step({ random, lossOneIn: seed % 2 === 0 ? 0 : 50 }, now, [mine, peer]);
    if (random.below(400) === 0) (random.below(2) === 0 ? mine : peer).restart();
    if (random.below(10) > 0) continue;
    const theirs = new Map(peer.recent.view().spans.map(({ id, sum }) => [id, sum]));
    const ownSums = mine.recent.view();
    const files = { ownSums, seq: mine.seq, peerSums: theirs, since, nowMs: now };
    const { confirmed, isSuspect } = compareRecent(files);
    expect(peer.holds(mine, confirmed), `step ${at}: up to ${confirmed} of ${mine.seq}`).toBe(true);
    if (confirmed > since) raised += 1;
    since = confirmed;
    if (!isSuspect || random.below(5) > 0) continue;
    // Compares key by key, as push-rows does.
    for (const [key, { ms }] of mine.rows) {
      if (stampAge(ms, now) === 'settled') peer.give({ key, ms });
    }
    while (since < mine.seq && peer.holds(mine, since + 1)) since += 1;
  }
  expect(raised).toBeGreaterThan(50);
});

test('rows of spans that are no longer kept count as unknown', () => {
  const file = new ModelFile();
  for (let span = 0; span <= recentSpansMax; span += 1) {
    file.give({ key: span, ms: (10 + span) * recentSpanMs });
  }
  expect(file.recent.view()).toMatchObject({ trackedFrom: 2, spans: { length: recentSpansMax } });
  file.give({ key: 99, ms: recentSpanMs });
  expect(file.recent.view().trackedFrom, 'the row is older than all kept spans').toBe(file.seq + 1);
});
