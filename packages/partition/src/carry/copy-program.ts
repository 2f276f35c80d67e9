// Program beside a store (copy-process.ts): gives files to other servers' carriers, and takes files
// from them.
import { flushCompileCache } from 'node:module';
import { messageOf } from '@ringwright/base/thrown';
import { takeOrders } from '@ringwright/node/background-program';
import { type CopyOrder, tellStore } from './copy-work.ts';
import { GiveFiles } from './give-files.ts';
import { TakeFiles } from './take-files.ts';

const [given, taken] = [new GiveFiles(), new TakeFiles()];

async function follow(order: CopyOrder): Promise<void> {
  switch (order.kind) {
    case 'listen':
      flushCompileCache(); // now, because the process is killed when it is idle
      return given.listen(order);
    case 'rate':
      for (const { bucket } of [given, taken]) bucket.setRate(order.rate);
      return;
    case 'give':
      return given.give(order);
    case 'admit':
      return given.admit(order);
    case 'detach':
      return given.detach(order);
    case 'take':
      return taken.take(order);
    case 'fetch':
      return taken.fetch(order);
    case 'end':
      given.end(order.id);
      taken.end(order.id);
  }
}

async function take(order: CopyOrder): Promise<void> {
  try {
    await follow(order);
  } catch (error) {
    const message = messageOf(error);
    if ('id' in order) tellStore({ kind: 'failed', id: order.id, code: 'PEER_FAILED', message });
    else tellStore({ kind: 'not-listening', message });
  }
}

takeOrders(take);
