// MULTI and its relatives: there are no transactions, and nothing of a refused one is executed.
import {
  type RedisCall,
  type RedisClient,
  type RedisCommand,
  RedisRefusal,
} from './redis-command.ts';
import { okReply, type RespReply } from './resp-reply.ts';

/** Commands that are answered even while a refused transaction has not ended. */
const allowedCommands: ReadonlySet<string> = new Set(['multi', 'exec', 'discard', 'quit']);

/**
 * Clients send MULTI, its commands and EXEC at once, so the commands in between must not run on
 * their own.
 */
export function requireNoTransaction(name: string, { isInRefused }: RedisClient): void {
  if (!isInRefused || allowedCommands.has(name)) return;
  throw new RedisRefusal('ERR not executed: MULTI was refused; send EXEC or DISCARD first');
}

function multi({ client }: RedisCall): RespReply {
  client.isInRefused = true;
  throw noTransactions();
}

function exec(call: RedisCall): RespReply {
  endTransaction(call, 'EXEC');
  throw new RedisRefusal('EXECABORT Transaction discarded because of previous errors.');
}

function discard(call: RedisCall): RespReply {
  endTransaction(call, 'DISCARD');
  return okReply;
}

function endTransaction({ client }: RedisCall, command: string): void {
  if (!client.isInRefused) throw new RedisRefusal(`ERR ${command} without MULTI`);
  client.isInRefused = false;
}

function watch(): RespReply {
  throw noTransactions();
}

function noTransactions(): RedisRefusal {
  return new RedisRefusal(
    'ERR transactions are not supported: each command changes its keys by itself',
  );
}

const keyless = { keys: 'none', effect: 'none' } as const;

export const transactionCommands: Readonly<Record<string, RedisCommand>> = {
  multi: { arity: 1, ...keyless, run: multi },
  exec: { arity: 1, ...keyless, run: exec },
  discard: { arity: 1, ...keyless, run: discard },
  watch: { arity: -2, ...keyless, run: watch },
};
