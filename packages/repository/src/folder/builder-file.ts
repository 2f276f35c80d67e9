// builder.json: the builder state at the head and the staged changes, one device or change a line.
// Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { parseJson, whyNotJson, windowsLineEnds } from '@ringwright/base/parse-json';
import { sha256 } from '@ringwright/base/sha256';
import { messageOf } from '@ringwright/base/thrown';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type Change, type Staged, stagedSchema } from '@ringwright/builder/state/change';
import { parseState } from '@ringwright/builder/state/state-json';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import { z } from 'zod';

export interface BuilderFile {
  /** The version that the state belongs to; null before the first. */
  readonly head: VersionId | null;
  /** SHA-256 of the last line of log.jsonl, so that an edit of that line is noticed. */
  readonly log: string | null;
  /** As of the head: staged changes are not applied. */
  readonly state: BuilderState;
  readonly staged: readonly Staged[];
}

const FORMAT = 1;

const fileSchema = z.strictObject({
  format: z.literal(FORMAT),
  head: z.strictObject({ version: z.int().positive(), id: z.string() }).nullable(),
  log: z.string().nullable(),
  state: z.unknown(),
  staged: z.array(stagedSchema),
  /**
   * SHA-256 of the file without this line. No version's file holds the staged changes, nor anything
   * of a ring without versions. Absent in files of older releases.
   */
  digest: z.string().optional(),
});

/** Prints the file in canonical form: equal content gives equal bytes. */
export function printBuilderFile(file: BuilderFile): string {
  const members = membersOf(file);
  const digest = sha256(printMembers(members));
  return printMembers([...members, `"digest": "${digest}"`]);
}

/** Whether a valid builder.json has a digest. */
export function isDigested(text: string): boolean {
  // The digest is a line of its own, and JSON strings contain no line breaks.
  return /^ {2}"digest": /m.test(text);
}

function membersOf(file: BuilderFile): string[] {
  const { devices, ...settings } = file.state;
  return [
    `"format": ${FORMAT}`,
    `"head": ${spaced(file.head)}`,
    `"log": ${spaced(file.log)}`,
    `"state": {\n${Object.entries(settings)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `    ${spaced(key)}: ${spaced(value)},\n`)
      .join('')}    "devices": [${rows(devices, '      ', '    ')}]\n  }`,
    `"staged": [${rows(file.staged, '    ', '  ')}]`,
  ];
}

function printMembers(members: readonly string[]): string {
  return `{\n${members.map((member) => `  ${member}`).join(',\n')}\n}\n`;
}

/** Returns the content, or a sentence that says why it is invalid. */
export function parseBuilderFile(text: string): BuilderFile | string {
  try {
    const parsed = fileSchema.safeParse(parseJson(text, () => new SyntaxError(whyNotJson(text))));
    if (!parsed.success) return z.prettifyError(parsed.error).replaceAll('\n', ' ');
    const { head, log, state, staged, digest } = parsed.data;
    const content = {
      head,
      log,
      state: parseState(Buffer.from(JSON.stringify(state))),
      staged,
    };
    const spelled =
      digest === undefined ? printMembers(membersOf(content)) : printBuilderFile(content);
    if (spelled === text) return content;
    if (text.includes('\r')) return windowsLineEnds;
    return digest === undefined || spelled.includes(digest)
      ? 'is not in canonical form'
      : 'does not match its digest: it was edited or damaged';
  } catch (error) {
    return messageOf(error);
  }
}

export function stagedChanges(staged: readonly Staged[]): Change[] {
  return staged.flatMap(({ changes }) => [...changes]);
}

/** The state with all that is staged applied. Throws what applyChanges throws. */
export function stagedState({
  state,
  staged,
}: Pick<BuilderFile, 'state' | 'staged'>): BuilderState {
  return applyChanges(state, stagedChanges(staged));
}

/** Identifies the staged changes: a commit clears exactly those that it was planned with. */
export function stagedDigest(staged: readonly Staged[]): string {
  return sha256(spaced(staged));
}

function rows(values: readonly unknown[], indent: string, end: string): string {
  if (values.length === 0) return '';
  return `\n${values.map((value) => `${indent}${spaced(value)}`).join(',\n')}\n${end}`;
}

function spaced(value: unknown): string {
  // State, changes and heads are plain JSON, although their interfaces do not say so.
  return canonicalJson(value as Json);
}
