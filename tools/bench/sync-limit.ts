// Program: durable writes of 4 KiB per second over zeros, as the commit log does them. This
// measures the limit of the disk.
//     node tools/bench/sync-limit.ts FOLDER SECONDS
import fs from 'node:fs';
import path from 'node:path';

const [folder = '.', seconds = '1'] = process.argv.slice(2);
const file = path.join(folder, 'sync-limit');
const page = Buffer.alloc(4096, 1);
const pages = 4_096;
fs.writeFileSync(file, Buffer.alloc(pages * page.length), { flush: true });
const descriptor = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_DSYNC);
const started = performance.now();
let [syncs, spentMs] = [0, 0];
while (spentMs < Number(seconds) * 1000) {
  fs.writeSync(descriptor, page, 0, page.length, (syncs % pages) * page.length);
  syncs += 1;
  spentMs = performance.now() - started;
}
fs.closeSync(descriptor);
fs.unlinkSync(file);
console.log(JSON.stringify({ perSecond: (syncs * 1000) / spentMs }));
