// ring-builder import-swift: imports a ring or builder file of OpenStack Swift as a new ring.
import { existsSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import { importSwift } from '@ringwright/swift/import-swift';
import { readSwiftFile, type SwiftFile } from '@ringwright/swift/swift-file';
import { type Arguments, usage } from '../../cli/arguments.ts';
import { type Command, textOption } from '../../cli/command.ts';
import { readInput } from '../../cli/read-input.ts';
import { addImported } from './add-imported.ts';

/** Options for the hash prefix and suffix: as text, or as hex if the bytes are not text. */
const saltOptions: NonNullable<Command['options']> = {
  'hash-prefix': textOption('swift_hash_path_prefix of swift.conf'),
  'hash-suffix': textOption('swift_hash_path_suffix of swift.conf'),
  'hash-prefix-hex': textOption('the same as bytes in hex, if they are not text'),
  'hash-suffix-hex': textOption('the same as bytes in hex, if they are not text'),
};

export const command: Command = {
  positionals: { file: { describe: 'object.ring.gz or object.builder; - is stdin' } },
  options: {
    ...saltOptions,
    cluster: textOption('name of the cluster; servers of other clusters refuse the ring', {
      default: 'default',
    }),
  },
  examples: [
    ['$0 import-swift objects object.builder --hash-suffix changeme', 'with settings and history'],
    ['$0 import-swift objects object.ring.gz --hash-suffix changeme', 'the table and the devices'],
  ],
  // If either word could be the file, the one that exists on disk is.
  oldOrder: {
    second: 'file',
    isOld: (first, second) =>
      isPath(first) === isPath(second) ? existsSync(first) && !existsSync(second) : isPath(first),
  },
  run: async (args, context) => {
    const file = args.text('file');
    const swift = await readSwift(file);
    const imported = importSwift(swift, {
      ring: args.text('ring'),
      cluster: args.text('cluster'),
      prefix: saltOf(args, 'prefix'),
      suffix: saltOf(args, 'suffix'),
    });
    return addImported(context, imported, { file, kind: `swift ${swift.kind}` });
  },
};

/** Throws what readSwiftFile throws, with the file's name added. */
async function readSwift(file: string): Promise<SwiftFile> {
  const bytes = await readInput(file, { bytesMax: swiftPayloadBytesMax });
  try {
    return readSwiftFile(bytes);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { code, message, hint, details } = error;
    throw new CodedError(code, `${file}: ${message}`, { hint, details: { ...details, file } });
  }
}

function isPath(word: string): boolean {
  return word === '-' || /[./]/.test(word);
}

/** Returns the bytes in hex; empty without the option. */
function saltOf(args: Arguments, which: 'prefix' | 'suffix'): string {
  const [asText, asHex] = [`hash-${which}`, `hash-${which}-hex`];
  const [text, hex] = [args.optionalText(asText), args.optionalText(asHex)?.toLowerCase()];
  if (text !== undefined && hex !== undefined) throw usage(`--${asText} and --${asHex} given`);
  if (hex === undefined) return Buffer.from(text ?? '', 'utf8').toString('hex');
  if (/^([0-9a-f]{2})*$/.test(hex)) return hex;
  throw usage(`--${asHex} ${JSON.stringify(hex)} is not an even number of hex digits`);
}
