// The packed client, in a program that has nothing else of this checkout.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { clusterForTest, keyspace } from '../support/cluster.ts';

const root = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);

const program = `
import { type Client, CodedError, connect } from '@ringwright/client';

await using client: Client = await connect([process.argv[2]!], { keyspace: '${keyspace}' });
await client.put('shopping', 'butter');
for await (const { key, value } of client.scan({ prefix: 'shop' })) {
  console.log(String(Buffer.from(key)), String(Buffer.from(value ?? [])));
}
const failure: unknown = await connect([], { keyspace: '${keyspace}' }).catch((error) => error);
console.log(failure instanceof CodedError ? failure.code : failure);
// @ts-expect-error: there is no such level
await client.get('shopping', { consistency: 'most' }).catch(() => console.log('refused'));
`;

test('a program elsewhere installs the client, passes tsc, and reads what it wrote', async () => {
  const app = await mkdtemp(path.join(tmpdir(), 'application-'));
  const pack = path.join(root, 'tools/house/pack-client.ts');
  const env = { ...process.env, INIT_CWD: app };
  const packed = await run(process.execPath, [pack, '.'], { env, cwd: root });
  const [file = '', , next] = packed.stdout.split('\n');
  expect(next).toContain(`npm install ${file}`);
  const place = path.join(app, 'node_modules/@ringwright/client');
  await mkdir(place, { recursive: true });
  await run('tar', ['-xzf', file, '--strip-components=1', '-C', place]);
  for (const name of ['msgpackr', 'ws', 'zod']) {
    await symlink(path.join(root, 'node_modules', name), path.join(app, 'node_modules', name));
  }
  await writeFile(path.join(app, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(app, 'app.ts'), program);
  const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'esnext'];
  const types = ['--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types')];
  await run(path.join(root, 'node_modules/.bin/tsc'), [...strict, ...types, 'app.ts'], {
    cwd: app,
  });
  const cluster = await clusterForTest({ servers: 1, replicas: 1, partitions: 4 });
  const { stdout } = await run('node', ['app.ts', `127.0.0.1:${cluster.ports()[0]}`], { cwd: app });
  expect(stdout.split('\n')).toEqual(['shopping butter', 'USAGE', 'refused', '']);
});
