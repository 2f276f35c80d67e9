// Answers what a coordinator sends to a device, by the real code of the replica and without a
// connection.
import { answerPrepare } from '@ringwright/server/replica/prepare-answer';
import {
  answerRead,
  answerStamp,
  answerWrite,
  type ReplicaPorts,
} from '@ringwright/server/replica/replica';
import { answerPromises } from '@ringwright/server/replica/replication-answers';
import type { RequestOf } from '@ringwright/wire/message';
import { recordPrepare, recordRead, recordStamp, recordWrite } from '@ringwright/wire/records';
import { promises } from '@ringwright/wire/replication';

/** The caller of each message: it has no newer ring to fetch. */
export const nobody = { call: () => Promise.reject(new Error('rings are fetched otherwise')) };

/** Answers any other message as a device without files does, once it has the ring. */
export async function answerMessage(
  replica: ReplicaPorts,
  method: string,
  request: unknown,
): Promise<unknown> {
  switch (method) {
    case recordWrite.method:
      return answerWrite(replica, request as Parameters<typeof answerWrite>[1], nobody);
    case recordRead.method:
      return answerRead(replica, request as Parameters<typeof answerRead>[1], nobody);
    case recordStamp.method:
      return answerStamp(replica, request as RequestOf<typeof recordStamp>, nobody);
    case recordPrepare.method:
      return answerPrepare(replica, request as RequestOf<typeof recordPrepare>, nobody);
    case promises.method:
      return answerPromises(replica, request as RequestOf<typeof promises>, nobody);
    default: {
      const { ringVersion } = request as { readonly ringVersion: number };
      await replica.exchange.reach('cities', ringVersion, nobody);
      return { holdings: [] };
    }
  }
}
