// Reads words of Redis requests as texts, numbers and options, and refuses them in Redis's own
// words. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { checkKey } from '@ringwright/base/check-key';
import { valueBytesMax } from '@ringwright/base/limits';
import { RedisRefusal } from './redis-command.ts';

export function textOf(word: Uint8Array | undefined): string {
  return word === undefined ? '' : asBuffer(word).toString();
}

export function lowerOf(word: Uint8Array | undefined): string {
  return textOf(word).toLowerCase();
}

/** Redis integers have 64 bits with sign, and each has one spelling. */
const INTEGER = /^(0|-?[1-9]\d{0,18})$/;

export function integer64(word: Uint8Array | undefined): bigint | null {
  const text = textOf(word);
  return INTEGER.test(text) ? within64(BigInt(text)) : null;
}

export function within64(value: bigint): bigint | null {
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** Returns an integer, rounded if it exceeds 2^53. Throws Redis's refusal. */
export function integerOf(word: Uint8Array | undefined): number {
  const value = integer64(word);
  if (value === null) throw notAnInteger();
  return Number(value);
}

/** Throws KEY_INVALID. */
export function keyOf(word: Uint8Array = new Uint8Array()): Uint8Array {
  checkKey(word);
  return word;
}

/** Refuses a value that is too long. Other requests of the connection go on. */
export function requireWordsFit(words: readonly Uint8Array[]): void {
  for (const { length } of words) {
    if (length <= valueBytesMax) continue;
    throw new RedisRefusal(`ERR an argument of ${length} bytes; the maximum is ${valueBytesMax}`);
  }
}

export function notAnInteger(): RedisRefusal {
  return new RedisRefusal('ERR value is not an integer or out of range');
}

export function syntaxError(): RedisRefusal {
  return new RedisRefusal('ERR syntax error');
}

export function wrongArguments(command: string): RedisRefusal {
  return new RedisRefusal(`ERR wrong number of arguments for '${command}' command`);
}

export function unknownSubcommand(command: string, word: Uint8Array | undefined): RedisRefusal {
  const text = textOf(word).slice(0, 64);
  const name = command.toUpperCase();
  return new RedisRefusal(`ERR unknown subcommand or wrong number of arguments: ${name} ${text}`);
}
