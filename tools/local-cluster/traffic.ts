// An application at work: writers that keep updating, readers that check each answer.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import type { Random } from '@ringwright/base/random';
import type { KeyspaceClient, Outcome } from './keyspace-client.ts';
import { judgeRead, type Ledger, type Verdict, valueAfter } from './ledger.ts';

const WRITERS = 2;
const READERS = 4;

/** What the application saw so far. */
export interface Sightings {
  writes: number;
  reads: number;
  /** Attempts refused or unanswered; each was made again until it succeeded. */
  retries: number;
  /** Longest time between asking and having the answer, retries included. */
  writePauseMs: number;
  readPauseMs: number;
  /** One sentence for each answer that was wrong. */
  readonly wrong: string[];
}

export interface Traffic {
  readonly seen: Sightings;
  /** Lets requests in flight end. Throws what made the application fail, if anything did. */
  stop(): Promise<Sightings>;
}

interface Application {
  readonly client: KeyspaceClient;
  readonly ledger: Ledger;
  readonly random: Random;
}

export function startTraffic(application: Application): Traffic {
  const seen: Sightings = {
    writes: 0,
    reads: 0,
    retries: 0,
    writePauseMs: 0,
    readPauseMs: 0,
    wrong: [],
  };
  let stopping = false;
  const repeat = async (act: () => Promise<void>): Promise<void> => {
    while (!stopping) await act();
  };
  const lanes = [
    ...Array.from({ length: WRITERS }, (_, lane) => repeat(() => write(application, seen, lane))),
    ...Array.from({ length: READERS }, () => repeat(() => read(application, seen))),
  ];
  const ended = Promise.allSettled(lanes);
  return {
    seen,
    stop: async () => {
      stopping = true;
      for (const result of await ended) if (result.status === 'rejected') throw result.reason;
      return seen;
    },
  };
}

/** Each record belongs to one writer lane: its updates follow each other. */
async function write(
  { client, ledger, random }: Application,
  seen: Sightings,
  lane: number,
): Promise<void> {
  const span = Math.ceil((ledger.entries.length - lane) / WRITERS);
  const index = random.below(span) * WRITERS + lane;
  if (ledger.unsure[index] === 1) return nextTurn();
  const entry = must(ledger.entries[index], `no record ${index}`);
  const update = must(ledger.sent[index], `no record ${index}`) + 1;
  ledger.sent[index] = update;
  const asked = performance.now();
  const outcome = await client.put(entry.key, valueAfter(entry, update));
  ledger.acked[index] = update;
  if (outcome.unanswered > 0) ledger.unsure[index] = 1;
  seen.writes += 1;
  seen.retries += outcome.unanswered + outcome.refused;
  seen.writePauseMs = Math.max(seen.writePauseMs, performance.now() - asked);
}

async function read({ client, ledger, random }: Application, seen: Sightings): Promise<void> {
  const index = random.below(ledger.entries.length);
  const asked = performance.now();
  const ackedBefore = must(ledger.acked[index], `no record ${index}`);
  const outcome = await client.get(must(ledger.entries[index], `no record ${index}`).key);
  const verdict = judgeOutcome(ledger, index, { ...outcome, ackedBefore });
  if (verdict !== 'right') seen.wrong.push(describe(ledger, index, verdict));
  seen.reads += 1;
  seen.retries += outcome.unanswered + outcome.refused;
  seen.readPauseMs = Math.max(seen.readPauseMs, performance.now() - asked);
}

/**
 * Holds what was read of a record against what had been acknowledged before it was asked for, by
 * default by now, and what has been sent until now.
 */
export function judgeOutcome(
  { entries, acked, sent }: Ledger,
  index: number,
  { status, body, ackedBefore }: Pick<Outcome, 'status' | 'body'> & { ackedBefore?: number },
): Verdict {
  const entry = must(entries[index], `no record ${index}`);
  const from = ackedBefore ?? acked[index] ?? 0;
  return judgeRead(entry, status === 404 ? null : body, { from, to: sent[index] ?? 0 });
}

export function describe(ledger: Ledger, index: number, verdict: Verdict): string {
  return `${ledger.entries[index]?.key}: ${verdict}, update ${ledger.acked[index]} was acknowledged`;
}
