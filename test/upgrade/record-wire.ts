// Records frame by frame what a tool sends to a server and what the server answers, and sends it
// again.
import { once } from 'node:events';
import fs from 'node:fs';
import { joinFrame, packEnvelope } from '@ringwright/wire/frame';
import { clientHello } from '@ringwright/wire/greet-server';
import { hello } from '@ringwright/wire/hello';
import { moveReceipts } from '@ringwright/wire/moves';
import { digests } from '@ringwright/wire/replication';
import { ringFetch } from '@ringwright/wire/rings';
import { WebSocket } from 'ws';

export interface WireLine {
  readonly from: 'tool' | 'server';
  /** One binary WebSocket message, in base64. */
  readonly frame: string;
}

const requests: readonly (readonly [method: string, body: unknown])[] = [
  [hello.method, clientHello(Date.now())],
  [ringFetch.method, { keyspace: 'notes', id: null, base: null, offset: 0 }],
  [digests.method, { keyspace: 'notes', ringVersion: 1, partitions: [0, 1, 2, 3] }],
  [moveReceipts.method, { keyspace: 'users', assignments: [] }],
  ['no-such-method', {}],
];

/** Writes one line per frame, in the order of arrival. */
export async function recordWire(file: string, port: number): Promise<void> {
  const frames = requests.map(([method, body], id) =>
    joinFrame([packEnvelope([0, id, method, body])]),
  );
  const lines = await sayAgain(port, frames);
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Sends each frame once the previous one is answered. Ends early if the connection closes. */
export async function sayAgain(port: number, frames: readonly Uint8Array[]): Promise<WireLine[]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/wire`);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  const lines: WireLine[] = [];
  for (const frame of frames) {
    lines.push({ from: 'tool', frame: Buffer.from(frame).toString('base64') });
    const answered = once(socket, 'message') as Promise<[Buffer]>;
    socket.send(frame);
    const answer = await Promise.race([answered, closed.then(() => null)]);
    if (answer === null) break;
    lines.push({ from: 'server', frame: answer[0].toString('base64') });
  }
  socket.terminate();
  return lines;
}
