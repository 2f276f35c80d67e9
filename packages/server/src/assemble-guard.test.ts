// Tests that refusals of values that a caller makes up do not fill the log.
import type { Need } from '@ringwright/access/need';
import { expect, onTestFinished, test } from 'vitest';
import { testToken } from '../../../test/support/access.ts';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { credentialFrom } from './access/credential.ts';
import { createGuard } from './assemble-guard.ts';
import { AuditLog } from './audit/audit-log.ts';
import { ClientCertificates } from './client-certificates.ts';
import { logOf } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { RepeatedLines } from './telemetry/repeated-lines.ts';
import { AccessStore } from './trust/access-store.ts';

test('a hundred made-up tokens and rings add one line to the log', async () => {
  const folder = await scratchFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const printed: string[] = [];
  const write = (text: string): void => void printed.push(text);
  const log = logOf('info', new RepeatedLines(() => 0), { write });
  const nowMs = (): number => 0;
  const access = await AccessStore.load({ directory: folder.path, nowMs, trusts: () => [] });
  const audit = await AuditLog.load({ data: folder.path, nowMs, onTrouble: () => undefined });
  const certificates = await ClientCertificates.open(undefined, log);
  const listening = { operatorListen: null, isStrict: true, onChange: () => undefined };
  const parts = { metrics: createMetrics(), log, token: null, certificates, ...listening };
  const guard = createGuard({ access, audit }, parts);
  for (let turn = 0; turn < 100; turn += 1) {
    const needs: Need[] = [{ kind: 'ring', keyspace: `ring${turn}` }];
    const from = `10.0.0.9:${turn}`;
    const made = [null, testToken(`token${turn}`)].map((token) => credentialFrom(from, token));
    for (const credential of made) expect(() => guard.require(credential, needs)).toThrow();
  }
  expect(printed.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'request refused', code: 'TOKEN_MISSING', stranger: '10.0.0.9:0' },
    { msg: 'request refused', code: 'ACCESS_PENDING', stranger: '10.0.0.9:0' },
  ]);
  expect(await audit.read(null, 10)).toHaveLength(2);
});
