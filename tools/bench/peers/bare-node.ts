// A Node process that answers redis-benchmark and stores nothing.
import path from 'node:path';
import { freePorts } from '@ringwright/node/free-ports';
import { startProgram } from '../measure/started-program.ts';
import { answersOn, type RedisPeer } from './redis-peer.ts';

export async function startBareNode(folder: string, valueBytes: number): Promise<RedisPeer> {
  const [port = 0] = await freePorts(1);
  const program = await startProgram({
    file: process.execPath,
    args: [path.join(import.meta.dirname, '../socket-limit.ts'), `${port}`, `${valueBytes}`],
    logFile: path.join(folder, 'bare-node.log'),
    isUp: () => answersOn(port),
  });
  return { port, pid: program.pid, [Symbol.asyncDispose]: () => program.stop() };
}
