// A worker's client over HTTP: any server, a connection kept to each.
import http from 'node:http';
import type { Random } from '@ringwright/base/random';
import { askRecord } from '../../../test/support/ask-record.ts';
import { pick } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';
import type { WorkerClient } from './worker-client.ts';

export function httpClient(stage: Stage, random: Random): WorkerClient {
  const agent = new http.Agent({ keepAlive: true });
  return {
    levels: ['quorum', 'quorum', 'quorum', 'all'],
    async ask(question) {
      const { port } = pick(random, stage.victims).place;
      return { ...(await askRecord({ ...question, port, keyspace, agent })), port };
    },
    close: () => agent.destroy(),
  };
}
