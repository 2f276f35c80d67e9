// ring-builder import: imports a ring that a converter of another system wrote as JSON.
import { importJsonBytesMax } from '@ringwright/base/limits';
import { importJson } from '@ringwright/builder/state/import-json';
import { type Command, textOption } from '../../cli/command.ts';
import { readInput } from '../../cli/read-input.ts';
import { addImported } from './add-imported.ts';

/**
 * A summary of the form. Full description, with converters for three systems:
 * packages/builder/src/state/DESIGN.md.
 */
const form =
  'file, or - for stdin: {partitioner: {kind: "md5-shift", power} or {kind: "murmur3-mod", ' +
  'partitions, seed}, devices: [{ip, port, device, weight, region?, zone?, meta?} or null, …], ' +
  'table: [[device id by partition], … by replica], replicas?, minPartHours?, overload?}';

export const command: Command = {
  options: {
    'from-json': textOption(form, { demandOption: true }),
    cluster: textOption(
      'name of the cluster; servers of other clusters refuse the ring (default: that of the file, or "default")',
    ),
  },
  examples: [
    [
      '$0 import --from-json ring.json cities',
      'partitioner, devices and table[replica][partition]',
    ],
    ['$0 table cities --json | $0 import --from-json - copy', 'table prints such a file'],
  ],
  run: async (args, context) => {
    const file = args.text('from-json');
    const content = (await readInput(file, { bytesMax: importJsonBytesMax })).toString('utf8');
    const names = { ring: args.text('ring'), cluster: args.optionalText('cluster') };
    return addImported(context, importJson(content, names), { file, kind: 'JSON file' });
  },
};
