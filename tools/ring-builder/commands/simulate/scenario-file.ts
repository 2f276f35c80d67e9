// Reads the scenario file of compare and simulate. A common mistake is to pass a ring's name, and
// the error says so.
import { CodedError } from '@ringwright/base/coded-error';
import { operatorFileBytesMax } from '@ringwright/base/limits';
import { usage } from '../../cli/arguments.ts';
import { readInput } from '../../cli/read-input.ts';

/** `example`: a scenario of this command, for the hint. Throws USAGE, FILE_UNFIT. */
export async function readScenarioFile(
  path: string,
  { command, example }: { readonly command: string; readonly example: string },
): Promise<string> {
  try {
    return (await readInput(path, { bytesMax: operatorFileBytesMax })).toString('utf8');
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'USAGE') throw error;
    const takes = `${command} takes a scenario (a JSON file), not a ring`;
    const hint = `such as ${example}; ring-builder ${command} --help describes the form`;
    throw usage(`${takes}; ${error.message}`, hint);
  }
}
