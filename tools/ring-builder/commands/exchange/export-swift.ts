// ring-builder export-swift: writes a version as a ring or builder file of OpenStack Swift.
import { stat } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printable } from '@ringwright/base/printable';
import { replaceDurably } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile, requireRegular } from '@ringwright/node/read-regular-file';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { type LogEntry, makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import {
  exportSwiftBuilder,
  exportSwiftRing,
  exportUnplacedBuilder,
} from '@ringwright/swift/export-swift';
import { encodeSwiftRing } from '@ringwright/swift/swift-ring-file';
import { encodeSwiftBuilder } from '@ringwright/swift/write-swift-builder';
import { usage } from '../../cli/arguments.ts';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { askedVersion, versionPositional } from '../../versions/version-reference.ts';

export const command: Command = {
  positionals: {
    file: { describe: 'file to write: object.ring.gz, or object.builder' },
    ...versionPositional,
  },
  options: {
    format: textOption('format of a ring file: 1 for every Swift (default), 2 for newer ones', {
      choices: ['1', '2'],
    }),
    builder: flagOption(
      'write a builder file for swift-ring-builder, as for any FILE that ends in .builder',
    ),
  },
  examples: [
    ['$0 export-swift objects object.ring.gz', 'the head, for the servers of Swift'],
    ['$0 export-swift objects object.builder', 'to continue with swift-ring-builder'],
  ],
  run: async (args, context) => {
    const [name, file] = [args.text('ring'), args.text('file')];
    if (file === '-')
      throw usage(
        'cannot write to stdout, which is for the answer: name a file, such as object.ring.gz',
      );
    const builder = args.flag('builder') || file.endsWith('.builder');
    const format = args.optionalText('format');
    if (builder && format !== undefined)
      throw usage('--format applies to ring files, not to builder files');
    const entries = await readLog(context.rings, name);
    const unplaced = builder && !entries.some(makesVersion) && !args.has('version');
    if (unplaced) return exportUnplaced(context, name, file);
    const stored = await askedVersion(args, context);
    const { version } = stored.ring;
    const swift = exportSwiftRing(stored.ring, stored.state);
    const { version: swiftVersion } = swift;
    const bytes = builder
      ? builderBytes(stored, entries)
      : encodeSwiftRing(swift, format === '2' ? 2 : 1);
    const changed = await write(context, { file, bytes, builder });
    const kind = builder ? 'builder' : `ring of format ${format ?? 1}`;
    return {
      json: {
        ...{ ring: name, version, id: stored.id, file, kind, swiftVersion },
        ...{ bytes: bytes.length, changed },
      },
      lines: [
        `${changed ? 'wrote' : 'already there:'} ${file}: ${name} version ${version} as Swift's ` +
          `${kind}, version ${swiftVersion} there, ${counted(bytes.length, 'byte')}`,
        ...saltLines(stored),
      ],
      next: context.next(`show ${name} ${version}`),
    };
  },
};

/**
 * Exports a ring without versions. Swift's tool also keeps such builders: devices and settings
 * without a table.
 */
async function exportUnplaced(context: Context, name: string, file: string): Promise<Answer> {
  const { state, staged } = await openRing(context.rings, name);
  const swift = exportUnplacedBuilder(state);
  const bytes = encodeSwiftBuilder(swift);
  const changed = await write(context, { file, bytes, builder: true });
  const { version: swiftVersion } = swift;
  const kind = 'builder without a table';
  const waiting = stagedChanges(staged).length;
  return {
    json: {
      ...{ ring: name, version: null, id: null, file, kind, swiftVersion },
      ...{ bytes: bytes.length, changed },
    },
    lines: [
      `${changed ? 'wrote' : 'already there:'} ${file}: ${name}, not placed yet, as ` +
        `Swift's builder, version ${swiftVersion} there, ${counted(bytes.length, 'byte')}`,
      waiting > 0 &&
        `not in it: ${counted(waiting, 'staged change until it is', 'staged changes until they are')} committed`,
    ],
    next: context.next(`plan ${name}`),
  };
}

function builderBytes({ ring, state }: StoredVersion, entries: readonly LogEntry[]): Buffer {
  if (state === null) {
    throw new CodedError(
      'RING_NOT_CONVERTIBLE',
      `version ${ring.version} of ${ring.keyspace} does not carry its builder`,
      { hint: 'a FILE that ends in .ring.gz contains only the ring' },
    );
  }
  const versions = entries.filter(makesVersion);
  const seconds = new Map(versions.map(({ version, time }) => [version, Date.parse(time) / 1_000]));
  return encodeSwiftBuilder(exportSwiftBuilder(ring, state, seconds));
}

/**
 * Replaces a ring file in any case. A builder file needs --yes, since Swift may have changed it
 * since.
 */
async function write(
  context: Context,
  { file, bytes, builder }: { file: string; bytes: Buffer; builder: boolean },
): Promise<boolean> {
  const found = await stat(file).catch(nullIfMissing);
  if (found !== null) {
    // replaceDurably would turn a device such as /dev/null into a plain file.
    requireRegular(file, found);
    const equal =
      found.size === bytes.length && bytes.equals(await readRegularFile(file, found.size));
    if (equal) return false;
  }
  if (builder && found !== null && !context.yes) {
    throw new CodedError('CONFIRMATION_NEEDED', `${file} already exists with other content`, {
      hint: 'name another file, or add --yes to replace it',
      details: { file },
    });
  }
  await replaceDurably(file, bytes);
  return true;
}

/**
 * Names the hash prefix and suffix, which the file cannot hold. A cluster with other values would
 * look for every object in the wrong place.
 */
function saltLines({ ring: { partitioner } }: StoredVersion): string[] {
  if (partitioner.kind !== 'md5-shift') return [];
  const { prefix, suffix } = partitioner;
  const lines = [...saltLine('prefix', prefix), ...saltLine('suffix', suffix)];
  const section = 'section [swift-hash] of swift.conf must have';
  if (lines.length === 0) return [`${section} neither a prefix nor a suffix`];
  return [`${section} exactly:`, ...lines];
}

/**
 * Returns the line for swift.conf; in hex if a terminal or an editor would not show the exact
 * bytes.
 */
function saltLine(which: 'prefix' | 'suffix', hex: string): string[] {
  const bytes = Buffer.from(hex, 'hex');
  const text = bytes.toString('utf8');
  const isText =
    Buffer.from(text).equals(bytes) && printable(text) === text && text.trim() === text;
  const name = `    swift_hash_path_${which}`;
  if (hex === '') return [];
  return [isText ? `${name} = ${text}` : `${name} = the bytes ${hex} (hex), which are not text`];
}
