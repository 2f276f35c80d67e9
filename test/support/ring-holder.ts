// A server that reports a version as active, serves its file, and records other messages.
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { acceptWire } from '@ringwright/server/http/wire-endpoint';
import type { CallHandler } from '@ringwright/wire/call-channel';
import { hello } from '@ringwright/wire/hello';
import { ringFetch, ringOffer, ringSettle } from '@ringwright/wire/rings';
import { onTestFinished } from 'vitest';
import { greeting } from './fake-server.ts';
import { wellOf } from './ring-status.ts';
import { statusServer } from './status-server.ts';

/**
 * The test sets `active`. The server refuses other messages and records them, until the test ends.
 */
export async function ringHolder() {
  const has: { active: StoredVersion | null; told: string[] } = { active: null, told: [] };
  const { port, server } = await statusServer(() => {
    if (has.active === null) return { rings: [] };
    const { ring, id } = has.active;
    return { rings: [{ ...wellOf(ring, 0), id }] };
  });
  const giving: CallHandler = {
    request: ringFetch.request,
    answer: () => {
      if (has.active === null) throw new Error('it has no ring');
      const { ring, id, bytes } = has.active;
      const data = Buffer.from(bytes);
      return { version: ring.version, id, bytes: data.length, isDelta: false, data };
    },
  };
  const noting = (method: string, request: CallHandler['request']): CallHandler => {
    return {
      request,
      answer: () => {
        has.told.push(method);
        throw new Error(method);
      },
    };
  };
  const handlers = new Map([
    [hello.method, greeting],
    [ringFetch.method, giving],
    [ringSettle.method, noting('settle', ringSettle.request)],
    [ringOffer.method, noting('offer', ringOffer.request)],
  ]);
  onTestFinished(acceptWire(server, { handlers }));
  return { port, has };
}
