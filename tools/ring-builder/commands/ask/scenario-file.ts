// The argument of compare and simulate: what they are given in its place is mostly a ring's name.
import { CodedError } from '@ringwright/base/coded-error';
import { operatorFileBytesMax } from '@ringwright/base/limits';
import { usage } from '../../cli/arguments.ts';
import { readInput } from '../../cli/read-input.ts';

/** `example`: what a scenario of this command looks like. Throws USAGE, FILE_UNFIT. */
export async function readScenarioFile(
  path: string,
  { command, example }: { readonly command: string; readonly example: string },
): Promise<string> {
  try {
    return (await readInput(path, { bytesMax: operatorFileBytesMax })).toString('utf8');
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'USAGE') throw error;
    const takes = `${command} takes a scenario, a JSON file, and no ring`;
    const hint = `such as ${example}; ring-builder ${command} --help has its form`;
    throw usage(`${takes}; ${error.message}`, hint);
  }
}
