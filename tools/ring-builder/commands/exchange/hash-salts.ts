// Hash prefix and suffix as options give them: text, or hex where the bytes are no text. Pure.
import { type Arguments, optionalText, usage } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import type { Verb } from '../../cli/verb.ts';

export const saltOptions: NonNullable<Verb['options']> = {
  'hash-prefix': textOption('swift_hash_path_prefix of swift.conf'),
  'hash-suffix': textOption('swift_hash_path_suffix of swift.conf'),
  'hash-prefix-hex': textOption('the same as bytes in hex, where they are no text'),
  'hash-suffix-hex': textOption('the same as bytes in hex, where they are no text'),
};

/** Hex of the bytes; empty when not given. */
export function saltOf(args: Arguments, which: 'prefix' | 'suffix'): string {
  const [asText, asHex] = [`hash-${which}`, `hash-${which}-hex`];
  const [text, hex] = [optionalText(args, asText), optionalText(args, asHex)?.toLowerCase()];
  if (text !== undefined && hex !== undefined) throw usage(`--${asText} and --${asHex} given`);
  if (hex === undefined) return Buffer.from(text ?? '', 'utf8').toString('hex');
  if (/^([0-9a-f]{2})*$/.test(hex)) return hex;
  throw usage(`--${asHex} ${JSON.stringify(hex)} is no even number of hex digits`);
}
