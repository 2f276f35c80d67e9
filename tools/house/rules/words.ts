// Rule: words without meaning are not used, nor words that the glossary has replaced. Each
// complaint names the replacement. Pure.
// (`any`, default exports, reminders and `!`: .oxlintrc.jsonc.)
import path from 'node:path';
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';
import { oldNames, oldWords } from './old-words.ts';

const DRAWERS = /^(utils?|helpers?|common|misc|types|constants|index|shared|lib)\.(test\.)?tsx?$/;
const EMPTY_NAME = /\b[A-Z]\w*(Manager|Helper|Service|Processor|Impl)\b|\bI[A-Z][a-z]+(?=\s*\{)/;

const BANNED_CODE: readonly (readonly [RegExp, string])[] = [
  [EMPTY_NAME, 'name the thing by its noun, the function by its verb'],
  [/\bexport \* from\b/, 'import from the file that has it; no barrels'],
];

export function checkWords(files: readonly SourceFile[]): Complaint[] {
  return files.flatMap((source) => [
    ...drawerName(source),
    ...bannedCode(source),
    ...oldWordsIn(source),
  ]);
}

function drawerName({ file }: SourceFile): Complaint[] {
  if (!DRAWERS.test(path.posix.basename(file))) return [];
  return [{ file, line: 0, message: 'a drawer, not a name: call the file by the noun in it' }];
}

function bannedCode({ file, code }: SourceFile): Complaint[] {
  return BANNED_CODE.flatMap(([pattern, instead]) =>
    linesWith(code, pattern).map((line) => ({
      file,
      line,
      message: `'${pattern.exec(code[line - 1] ?? '')?.[0].trim()}': ${instead}`,
    })),
  );
}

/** The replacement of each piece and name. */
function replacements(words: typeof oldWords): ReadonlyMap<string, string> {
  return new Map([
    ...oldNames,
    ...words.flatMap(({ pieces, instead }) => pieces.map((piece) => [piece, instead] as const)),
  ]);
}

const inSources = replacements(oldWords);
const inTests = replacements(oldWords.filter(({ isInTests }) => isInTests !== true));
const STAY: ReadonlySet<string> = new Set(oldWords.flatMap(({ stay = [] }) => stay));

function oldWordsIn({ file, code }: SourceFile): Complaint[] {
  const isTest = file.endsWith('.test.ts') || /(^|\/)test\//.test(file);
  const replacementOf = isTest ? inTests : inSources;
  return code.flatMap((text, index) =>
    (text.match(/[A-Za-z_$][\w$]*/g) ?? []).flatMap((name) => {
      const instead = insteadOf(name, replacementOf);
      if (instead === undefined) return [];
      return [{ file, line: index + 1, message: `'${name}' is an old word: ${instead}` }];
    }),
  );
}

function insteadOf(name: string, replacementOf: ReadonlyMap<string, string>): string | undefined {
  if (STAY.has(name)) return undefined;
  const pieces = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  const found = pieces.find((piece) => replacementOf.has(piece.toLowerCase()));
  return replacementOf.get(name) ?? replacementOf.get(found?.toLowerCase() ?? '');
}

function linesWith(lines: readonly string[], pattern: RegExp): number[] {
  return lines.flatMap((text, index) => (pattern.test(text) ? [index + 1] : []));
}
