// A redis-server that syncs before every answer, if installed.

import { once } from 'node:events';
import fs from 'node:fs/promises';
import net from 'node:net';
import { freePorts } from '@ringwright/node/free-ports';
import { versionOf } from '../measure/finished-program.ts';
import { type StartedProgram, startProgram } from '../measure/started-program.ts';

export interface RedisPeer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

export async function startRedis(folder: string): Promise<RedisPeer | null> {
  if ((await versionOf('redis-server')) === null) return null;
  const [port = 0] = await freePorts(1);
  const program = await startRedisServer(folder, port, ['--appendfsync', 'always']);
  return { port, pid: program.pid, [Symbol.asyncDispose]: () => program.stop() };
}

/** Starts a server that appends all commands to a file. */
export async function startRedisServer(
  folder: string,
  port: number,
  options: readonly string[],
): Promise<StartedProgram> {
  await fs.mkdir(folder, { recursive: true });
  const baseArgs = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
  return startProgram({
    file: 'redis-server',
    args: [...baseArgs, '--save', '', '--appendonly', 'yes', ...options],
    logFile: `${folder}.log`,
    isUp: () => answersOn(port),
  });
}

export async function answersOn(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  const connected = once(socket, 'connect').finally(() => socket.destroy());
  return await connected.then(
    () => true,
    () => false,
  );
}
