// The staged changes that a version was made of, as a section of its file. Their commands as typed
// are not enough, since --from FILE may stand for anything. The log holds the digest. Pure.
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { sha256 } from '@ringwright/base/sha256';
import { type Change, changeSchema } from '@ringwright/builder/state/change';
import type { Section } from '@ringwright/ring/file/ring-manifest';
import { z } from 'zod';

const NAME = 'staged';

/** Without changes there is no section, so the file equals that of releases before this section. */
export function stagedSections(changes: readonly Change[]): Section[] {
  if (changes.length === 0) return [];
  // Changes are plain JSON, although their interfaces do not say so.
  return [{ name: NAME, bytes: Buffer.from(canonicalJson(changes as unknown as Json)) }];
}

/** Returns the SHA-256 (hex) of the section, or null without one. */
export function stagedDigestOf(sections: readonly Section[]): string | null {
  const section = sections.find(({ name }) => name === NAME);
  return section === undefined ? null : sha256(section.bytes);
}

/** Returns null without the section, or if it does not parse as a list of today's changes. */
export function stagedChangesOf(sections: readonly Section[]): readonly Change[] | null {
  const section = sections.find(({ name }) => name === NAME);
  if (section === undefined) return null;
  const value = jsonOrNull(Buffer.from(section.bytes).toString());
  const parsed = z.array(changeSchema).safeParse(value);
  return parsed.data ?? null;
}
