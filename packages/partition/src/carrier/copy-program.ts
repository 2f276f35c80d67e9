// Program beside a store (copy-process.ts): gives files to other servers' carriers, and takes files
// from them.
import { flushCompileCache } from 'node:module';
import { messageOf } from '@ringwright/base/thrown';
import { takeOrders } from '@ringwright/node/background-program';
import { type CopyOrder, tellFailed, tellStore } from './copy-work.ts';
import { FileReceiver } from './receive-files.ts';
import { FileSender } from './send-files.ts';

const [outgoing, incoming] = [new FileSender(), new FileReceiver()];

async function follow(order: CopyOrder): Promise<void> {
  switch (order.kind) {
    case 'listen':
      flushCompileCache(); // now, because the process is killed when it is idle
      return outgoing.listen(order);
    case 'rate':
      for (const { bucket } of [outgoing, incoming]) bucket.setRate(order.rate);
      return;
    case 'give':
      return outgoing.give(order);
    case 'admit':
      return outgoing.admit(order);
    case 'detach':
      return outgoing.detach(order);
    case 'take':
      return incoming.take(order);
    case 'fetch':
      return incoming.fetch(order);
    case 'end':
      outgoing.end(order.id);
      incoming.end(order.id);
  }
}

async function take(order: CopyOrder): Promise<void> {
  try {
    await follow(order);
  } catch (error) {
    if ('id' in order) tellFailed(order.id, error);
    else tellStore({ kind: 'not-listening', message: messageOf(error) });
  }
}

takeOrders(take);
