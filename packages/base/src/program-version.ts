// The version of the programs and of what they are made of: one for all, as this package's own
// package.json has it (test/version.test.ts compares the others). Its second number is the wire
// version, so that of two releases the newer one has the higher number.
import manifest from '../package.json' with { type: 'json' };

export const programVersion: string = manifest.version;

/** What `--version` prints: a line for people, or one JSON document. */
export function versionAnswer(program: string, inJson: boolean): string {
  const document = { program, version: programVersion };
  return inJson ? JSON.stringify(document) : `${program} ${programVersion}`;
}
