// Words of Redis requests as texts, numbers and options, refused in Redis's own words. Pure.
import { keyBytesMax } from '@ringwright/base/limits';
import { RedisRefusal } from './redis-command.ts';

export function textOf(word: Uint8Array | undefined): string {
  if (word === undefined) return '';
  return Buffer.from(word.buffer, word.byteOffset, word.length).toString();
}

export function lowerOf(word: Uint8Array | undefined): string {
  return textOf(word).toLowerCase();
}

/** An integer that JavaScript holds exactly; throws Redis's refusal. */
export function integerOf(word: Uint8Array | undefined): number {
  const text = textOf(word);
  const value = Number(text);
  if (!/^-?\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
    throw new RedisRefusal('ERR value is not an integer or out of range');
  }
  return value;
}

export function checkKey(key: Uint8Array | undefined): Uint8Array {
  if (key !== undefined && key.length > 0 && key.length <= keyBytesMax) return key;
  const bytes = key?.length ?? 0;
  throw new RedisRefusal(`ERR a key of ${bytes} bytes, allowed are 1 to ${keyBytesMax}`);
}

export function syntaxError(): RedisRefusal {
  return new RedisRefusal('ERR syntax error');
}

export function wrongArguments(command: string): RedisRefusal {
  return new RedisRefusal(`ERR wrong number of arguments for '${command}' command`);
}

export function unknownSubcommand(command: string, word: Uint8Array | undefined): RedisRefusal {
  const given = textOf(word).slice(0, 64);
  const help = `Try ${command.toUpperCase()} HELP.`;
  return new RedisRefusal(
    `ERR unknown subcommand or wrong number of arguments for '${given}'. ${help}`,
  );
}
