// This device as the coordinator of clients that call over the wire.

import type { coordinateGet, coordinatePut } from '@ringwright/wire/coordination';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { type CoordinatorPorts, coordinateWrite } from './coordinate.ts';
import type { Metrics } from './metrics.ts';
import { readInSession } from './read-in-session.ts';

export interface ClientPorts {
  readonly coordinator: CoordinatorPorts;
  readonly metrics: Pick<Metrics, 'clientSeconds' | 'sessionEscalations'>;
}

/** Stamps and coordinates a write; the ring's version lets the client see that it has an old one. */
export async function answerPut(
  { coordinator, metrics }: ClientPorts,
  request: RequestOf<typeof coordinatePut>,
): Promise<AnswerOf<typeof coordinatePut>> {
  const end = metrics.clientSeconds.startTimer({ method: 'put' });
  try {
    const { ms, tie } = await coordinateWrite(coordinator, request);
    return { ms, tie, ringVersion: versionOf(coordinator, request.keyspace) };
  } finally {
    end();
  }
}

export async function answerGet(
  { coordinator, metrics }: ClientPorts,
  request: RequestOf<typeof coordinateGet>,
): Promise<AnswerOf<typeof coordinateGet>> {
  const end = metrics.clientSeconds.startTimer({ method: 'get' });
  try {
    const onEscalation = (): void => metrics.sessionEscalations.inc();
    const record = await readInSession({ coordinator, onEscalation }, request);
    const ringVersion = versionOf(coordinator, request.keyspace);
    if (record === null) return { record: null, ringVersion };
    const { value, ms, tie } = record;
    return { record: { value, ms, tie }, ringVersion };
  } finally {
    end();
  }
}

function versionOf({ rings }: CoordinatorPorts, keyspace: string): number {
  return rings.get(keyspace).ring.version;
}
