// The version of all programs and packages: this package's own package.json has it
// (test/version.test.ts compares the others). Its second number is the wire version, so the newer
// of two releases has the higher number.
import manifest from '../package.json' with { type: 'json' };

export const programVersion: string = manifest.version;

/** The output of `--version`: a line for people, or one JSON document. */
export function versionAnswer(program: string, inJson: boolean): string {
  const document = { program, version: programVersion };
  return inJson ? JSON.stringify(document) : `${program} ${programVersion}`;
}
