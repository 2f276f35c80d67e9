// Program: fdatasync calls a second of a file that grows by 4 KiB each time: the disk's own limit.
//     node tools/bench/sync-limit.ts FOLDER SECONDS
import fs from 'node:fs';
import path from 'node:path';

const [folder = '.', seconds = '1'] = process.argv.slice(2);
const file = path.join(folder, 'sync-limit');
const page = Buffer.alloc(4096, 1);
const descriptor = fs.openSync(file, 'w');
const started = performance.now();
let [syncs, spentMs] = [0, 0];
while (spentMs < Number(seconds) * 1000) {
  fs.writeSync(descriptor, page);
  fs.fdatasyncSync(descriptor);
  syncs += 1;
  spentMs = performance.now() - started;
}
fs.closeSync(descriptor);
fs.unlinkSync(file);
console.log(JSON.stringify({ perSecond: (syncs * 1000) / spentMs }));
