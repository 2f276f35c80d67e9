// ring-builder import-swift: a ring or builder file of OpenStack Swift as a ring here.
import { existsSync } from 'node:fs';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import { importSwift } from '@ringwright/swift/import-swift';
import { readSwiftFile } from '@ringwright/swift/swift-file';
import { text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import { readInput } from '../../cli/read-input.ts';
import type { Verb } from '../../cli/verb.ts';
import { addImported } from './add-imported.ts';
import { saltOf, saltOptions } from './hash-salts.ts';

export const verb: Verb = {
  positionals: { file: { describe: 'object.ring.gz or object.builder; - is stdin' } },
  options: {
    ...saltOptions,
    cluster: textOption('servers of another cluster refuse it', { default: 'default' }),
  },
  examples: [
    ['$0 import-swift objects object.builder --hash-suffix changeme', 'with settings and history'],
    ['$0 import-swift objects object.ring.gz --hash-suffix changeme', 'the table and the devices'],
  ],
  // A name that could be either is the file that is there.
  oldOrder: {
    second: 'file',
    isOld: (first, second) =>
      isPath(first) === isPath(second) ? existsSync(first) && !existsSync(second) : isPath(first),
  },
  run: async (args, context) => {
    const file = text(args, 'file');
    const swift = readSwiftFile(await readInput(file, { bytesMax: swiftPayloadBytesMax }));
    const imported = importSwift(swift, {
      ring: text(args, 'ring'),
      cluster: text(args, 'cluster'),
      prefix: saltOf(args, 'prefix'),
      suffix: saltOf(args, 'suffix'),
    });
    return addImported(context, imported, { file, kind: `swift ${swift.kind}` });
  },
};

function isPath(word: string): boolean {
  return word === '-' || /[./]/.test(word);
}
