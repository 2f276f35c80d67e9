// Rule: base, ring, builder, swift, wire and access use no clock, randomness, files or network.
// Pure.
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

const PURE_FOLDERS = [
  'packages/base/',
  'packages/ring/',
  'packages/builder/',
  'packages/swift/',
  'packages/wire/',
  'packages/access/',
];
/** The parts of Node that only compute: hashing and signatures, compression, and Buffer. */
const NODE_MODULES_ALLOWED = new Set(['node:crypto', 'node:zlib', 'node:buffer']);
const PACKAGES_BANNED = new Set(['ws', 'better-sqlite3', 'pino', 'prom-client', 'yargs']);

const CALLS_BANNED: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b/, 'take the time as an argument, {now(): number}'],
  [/\bnew Date\(\s*\)/, 'take the time as an argument, {now(): number}'],
  [/\bperformance\.now\b/, 'take the time as an argument, {now(): number}'],
  [/\bMath\.random\b/, 'take a Random from base/random.ts as an argument'],
  [/\brandom(Bytes|UUID|Int)\b/, 'take the bytes as an argument'],
  [/\bset(Timeout|Interval|Immediate)\b/, 'waiting belongs to the packages with effects'],
  [/\bprocess\./, 'read it in a main.ts and pass the value'],
  [/\bconsole\./, 'return the text; a tool prints it'],
  [/\bfetch\(/, 'network belongs to the packages with effects'],
];

export function checkPurePackages(files: readonly SourceFile[]): Complaint[] {
  return files
    .filter((source) => !source.isTest)
    .filter((source) => PURE_FOLDERS.some((folder) => source.file.startsWith(folder)))
    .flatMap((source) => [...impureImports(source), ...impureCalls(source)]);
}

function impureImports({ file, imports }: SourceFile): Complaint[] {
  return imports
    .filter(({ specifier }) =>
      specifier.startsWith('node:')
        ? !NODE_MODULES_ALLOWED.has(specifier)
        : PACKAGES_BANNED.has(specifier),
    )
    .map(({ specifier, line }) => ({
      file,
      line,
      message: `'${specifier}' in a pure package: take what it gives as an argument, or move the effect up`,
    }));
}

function impureCalls({ file, code }: SourceFile): Complaint[] {
  return code.flatMap((text, index) =>
    CALLS_BANNED.filter(([pattern]) => pattern.test(text)).map(([pattern, instead]) => ({
      file,
      line: index + 1,
      message: `${pattern.exec(text)?.[0]} in a pure package: ${instead}`,
    })),
  );
}
