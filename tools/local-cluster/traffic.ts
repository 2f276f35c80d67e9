// An application at work: writers update records, and readers check each answer.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import type { Random } from '@ringwright/base/random';
import type { Client, ClientRecord } from '@ringwright/client/client';
import { judgeRead, type Ledger, type Verdict, valueAfter } from './ledger.ts';
import { tryUntil } from './try-until.ts';

const WRITERS = 2;
const READERS = 4;

/** What the application has observed. */
interface Sightings {
  writes: number;
  reads: number;
  /** Failed requests; each was retried until it succeeded. */
  retries: number;
  /** Longest time from request to answer, retries included. */
  writePauseMs: number;
  readPauseMs: number;
  /** One sentence for each wrong answer. */
  readonly wrong: string[];
}

export interface Traffic {
  readonly seen: Sightings;
  /** Sends new requests through this client. */
  useClient(client: Client): void;
  /** Waits for requests in flight. Throws the error that made the application fail, if any. */
  stop(): Promise<void>;
}

interface Application {
  client: Client;
  readonly ledger: Ledger;
  readonly random: Random;
}

export function startTraffic(first: Readonly<Application>): Traffic {
  const application = { ...first };
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
    useClient: (client) => {
      application.client = client;
    },
    stop: async () => {
      stopping = true;
      for (const result of await ended) if (result.status === 'rejected') throw result.reason;
    },
  };
}

/** Each record belongs to one writer lane, so that its updates are sequential. */
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
  const startedMs = performance.now();
  const value = valueAfter(entry, update);
  const { failed, isUnsure } = await tryUntil(() => client.put(entry.key, value));
  ledger.acked[index] = update;
  if (isUnsure) ledger.unsure[index] = 1;
  seen.writes += 1;
  seen.retries += failed;
  seen.writePauseMs = Math.max(seen.writePauseMs, performance.now() - startedMs);
}

async function read({ client, ledger, random }: Application, seen: Sightings): Promise<void> {
  const index = random.below(ledger.entries.length);
  const startedMs = performance.now();
  const from = must(ledger.acked[index], `no record ${index}`);
  const { key } = must(ledger.entries[index], `no record ${index}`);
  const { answer: record, failed } = await tryUntil(() => client.get(key));
  const verdict = judgeRecord(ledger, index, { record, from });
  if (verdict !== 'right') seen.wrong.push(describe(ledger, index, verdict));
  seen.reads += 1;
  seen.retries += failed;
  seen.readPauseMs = Math.max(seen.readPauseMs, performance.now() - startedMs);
}

/** Compares a record that was read with what had been acknowledged before the request. */
export function judgeRecord(
  { entries, acked, sent }: Ledger,
  index: number,
  { record, from = acked[index] ?? 0 }: { record: ClientRecord | null; from?: number },
): Verdict {
  const entry = must(entries[index], `no record ${index}`);
  const value = record === null ? null : Buffer.from(record.value).toString();
  return judgeRead(entry, value, { from, to: sent[index] ?? 0 });
}

export function describe(ledger: Ledger, index: number, verdict: Verdict): string {
  return `${ledger.entries[index]?.key}: ${verdict}, update ${ledger.acked[index]} was acknowledged`;
}
