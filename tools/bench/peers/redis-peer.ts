// A redis-server that syncs before every answer, where it is installed.
import fs from 'node:fs/promises';
import net from 'node:net';
import { freePorts } from '@ringwright/node/free-ports';
import { versionOf } from '../measure/finished-program.ts';
import { startProgram } from '../measure/started-program.ts';

export interface RedisPeer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly version: string;
}

export async function startRedis(folder: string): Promise<RedisPeer | null> {
  const version = await versionOf('redis-server');
  if (version === null) return null;
  await fs.mkdir(folder, { recursive: true });
  const [port = 0] = await freePorts(1);
  const program = await startProgram({
    file: 'redis-server',
    args: [
      ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
      ['--appendonly', 'yes', '--appendfsync', 'always'],
    ].flat(),
    logFile: `${folder}.log`,
    isUp: () => answersOn(port),
  });
  return { port, pid: program.pid, version, [Symbol.asyncDispose]: () => program.stop() };
}

export function answersOn(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
