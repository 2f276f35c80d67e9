// Reads the command line of a benchmark. Prints the usage for --help, and for options that it does
// not know the reason and exit code 2.
import { type ParseArgsConfig, type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { messageOf } from '@ringwright/base/thrown';

interface Usage<Options extends ParseArgsOptionsConfig> {
  /** As in `npm run bench:NAME`. */
  readonly name: string;
  readonly usage: string;
  readonly options: Options;
}

type Parsed<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options }>
>['values'];

/** Returns the values of the options. Ends the process after --help and after a wrong option. */
export function benchOptions<Options extends ParseArgsOptionsConfig>(
  benchmark: Usage<Options>,
): Parsed<Options> {
  if (process.argv.includes('--help')) {
    console.log(benchmark.usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options: benchmark.options } satisfies ParseArgsConfig).values;
  } catch (error) {
    return refuse(benchmark.name, messageOf(error));
  }
}

/** Says what is wrong and where the options are described; ends the process with exit code 2. */
export function refuse(name: string, what: string): never {
  console.error(`${what}; try npm run bench:${name} -- --help`);
  process.exit(2);
}
