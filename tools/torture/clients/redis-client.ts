// A worker's client over the Redis protocol: SET, GET and DEL to any server, one at a time.
import net from 'node:net';
import tls from 'node:tls';
import { pick, type Random } from '@ringwright/base/random';
import type { OperationResult } from '../../../test/support/ask-record.ts';
import type { Shown } from '../../../test/support/ask-server.ts';
import type { Stage } from '../stage.ts';
import type { Question, WorkerClient } from './worker-client.ts';

const ANSWER_MS_MAX = 12_000;

export function redisClient(stage: Stage, random: Random): WorkerClient {
  const sockets = new Map<number, net.Socket>();
  return {
    levels: ['quorum'],
    async ask(question) {
      const { port, redisPort } = pick(random, stage.victims).place;
      const socket = await connected(sockets, redisPort, stage.secured?.worker ?? null);
      if (socket === null) {
        return { outcome: 'rejected', stamp: null, reason: 'no connection', port };
      }
      try {
        const reply = await roundTrip(socket, argsOf(question));
        // The token was replaced in the meantime: the next connection sends the new one.
        if (reply?.startsWith('-WRONGPASS') === true) socket.destroy();
        return { ...resultOfReply(question, reply), port };
      } catch (error) {
        socket.destroy();
        return { outcome: 'unknown', stamp: null, reason: String(error), port };
      }
    },
    close() {
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

async function connected(
  sockets: Map<number, net.Socket>,
  port: number,
  shown: Shown | null,
): Promise<net.Socket | null> {
  const known = sockets.get(port);
  if (known !== undefined && !known.destroyed) return known;
  const to = { port, host: '127.0.0.1', noDelay: true };
  const socket = shown === null ? net.connect(to) : tls.connect({ ...to, ca: shown.ca });
  sockets.set(port, socket);
  const isUp = await new Promise<boolean>((resolve) => {
    socket.once(shown === null ? 'connect' : 'secureConnect', () => resolve(true));
    socket.once('close', () => resolve(false));
    socket.on('error', () => undefined);
  });
  if (!isUp || shown === null) return isUp ? socket : null;
  const reply = await roundTrip(socket, ['AUTH', ...shown.token.split('.')]).catch(String);
  if (reply === '+OK') return socket;
  socket.destroy();
  return null;
}

function argsOf({ kind, key, value }: Question): string[] {
  if (kind === 'read') return ['GET', key];
  return kind === 'delete' ? ['DEL', key] : ['SET', key, value ?? ''];
}

/** Returns one reply: its first byte and its content, without the length of a string. */
function roundTrip(socket: net.Socket, args: readonly string[]): Promise<string | null> {
  const parts = args.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (finish: () => void): void => {
      clearTimeout(timeout);
      socket.off('data', read).off('close', broken);
      finish();
    };
    const broken = (): void => end(() => reject(new Error('the connection broke')));
    const timeout = setTimeout(() => end(() => reject(new Error('no answer'))), ANSWER_MS_MAX);
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const reply = wholeReply(text);
      if (reply !== undefined) end(() => resolve(reply));
    };
    socket.on('data', read).once('close', broken);
    socket.write(`*${args.length}\r\n${parts.join('')}`);
  });
}

/** Returns null for nil, and undefined while the reply is incomplete. Values here are ASCII. */
function wholeReply(text: string): string | null | undefined {
  const line = text.indexOf('\r\n');
  if (line === -1) return undefined;
  if (text[0] !== '$') return text.slice(0, line);
  const length = Number(text.slice(1, line));
  if (length < 0) return null;
  const start = line + 2;
  return text.length < start + length + 2 ? undefined : `$${text.slice(start, start + length)}`;
}

function resultOfReply(
  { kind }: Question,
  reply: string | null,
): OperationResult & { readonly kind?: 'read' } {
  // A DEL that finds nothing writes nothing, so it counts as a read.
  if (kind === 'delete' && reply === ':0') {
    return { kind: 'read', outcome: 'acked', stamp: null, value: null };
  }
  if (reply === null) return { outcome: 'acked', stamp: null };
  if (reply.startsWith('-')) {
    if (reply.startsWith('-SUPERSEDED')) return { outcome: 'superseded', stamp: null };
    const isRefused = /^-(NOAUTH|WRONGPASS|NOPERM)/.test(reply);
    const isNowhere = kind === 'read' || isRefused || reply.endsWith('nothing was written');
    return { outcome: isNowhere ? 'rejected' : 'unknown', stamp: null, reason: reply };
  }
  return { outcome: 'acked', stamp: null, ...(kind === 'read' && { value: reply.slice(1) }) };
}
