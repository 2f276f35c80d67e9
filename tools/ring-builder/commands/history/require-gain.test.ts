// Tests restore --replace in a folder with the same head, an older state or another history.
import { cp, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../../test/support/ring-builder-here.ts';

async function historyOf(versions: number) {
  const tool = await ringBuilderHere();
  const folder = join(tool.folder, 'rings', 'cities');
  const commit = async (meta: string): Promise<void> => {
    await tool.json(`set-device cities d0 --meta ${meta}`);
    await tool.json(`commit cities -m ${meta}`);
  };
  await tool.json('create cities --partitions 8 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/a 1');
  await tool.json('commit cities -m first');
  for (let made = 1; made < versions; made += 1) await commit(`change-${made}`);
  const fileOf = (version: number): string => join(folder, 'versions', `000000${version}.ring`);
  return { tool, folder, commit, fileOf };
}

test('restore --replace of the current head changes nothing in a sound folder', async () => {
  const { tool, folder, fileOf } = await historyOf(3);
  await tool.json('set-device cities d0 --meta staged');
  const log = await readFile(join(folder, 'log.jsonl'), 'utf8');
  const typed = `restore cities --from ${fileOf(3)} --replace`;
  expect(await tool.json(typed)).toMatchObject({ version: 3, kept: null, changed: false });
  expect(await tool.text(`${typed} --yes`)).toMatch(/^nothing to do: the folder has this head/);
  expect(await readFile(join(folder, 'log.jsonl'), 'utf8')).toBe(log);
  expect(await readdir(join(tool.folder, 'rings'))).toEqual(['cities']);
  const again = await tool.json(`restore cities --from ${fileOf(3)}`);
  expect(again).toMatchObject({ kept: null, changed: false });

  // In a damaged folder it still repairs the ring.
  const copy = join(tool.folder, 'copy.ring');
  await cp(fileOf(3), copy);
  await truncate(fileOf(1), 100);
  const mended = await tool.json(`restore cities --from ${copy} --replace`);
  expect(mended).toMatchObject({ version: 3, changed: true });
  expect(await tool.json('verify cities')).toMatchObject({ ok: true, versions: 1 });
});

test('an older state of the same history is replaced only with a confirmation', async () => {
  const { tool, folder, commit, fileOf } = await historyOf(2);
  const older = join(tool.folder, 'older');
  await cp(folder, older, { recursive: true });
  await commit('third');
  await commit('fourth');
  const newer = join(tool.folder, 'newer.ring');
  await cp(fileOf(4), newer);
  await rm(folder, { recursive: true });
  await cp(older, folder, { recursive: true });

  const typed = `restore cities --from ${newer} --replace`;
  const error: unknown = await tool.answer(typed).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'CONFIRMATION_NEEDED',
    message: expect.stringMatching(
      /would get only version 4, without version 3, and with a new log/,
    ),
    hint: expect.stringMatching(/^git pull .*rebase cities --onto FOLDER .*rings\/\.replaced$/),
  });
  expect(await readdir(join(tool.folder, 'rings'))).toEqual(['cities']);
  const taken = await tool.json<{ kept: string }>(`${typed} --yes`);
  expect(taken).toMatchObject({ version: 4, changed: true });
  expect(await tool.json(`log cities --rings ${taken.kept}`)).toMatchObject({ ring: 'cities' });
});

test('a history that diverged is replaced without a confirmation', async () => {
  const ours = await historyOf(2);
  const theirs = await historyOf(1);
  await theirs.commit('theirs');
  await theirs.commit('more');
  const typed = `restore cities --from ${theirs.fileOf(3)} --replace`;
  expect(await ours.tool.json(typed)).toMatchObject({ version: 3, changed: true });
});

test('an older version of the same history is restored only with a confirmation', async () => {
  const { tool, fileOf } = await historyOf(3);
  const typed = `restore cities --from ${fileOf(2)} --replace`;
  await expect(tool.answer(typed)).rejects.toMatchObject({
    code: 'CONFIRMATION_NEEDED',
    message: expect.stringMatching(/is at version 3, has version 2 in its history, and would go/),
    hint: expect.stringMatching(
      /^ring-builder revert cities 2 -m REASON .* add --yes: .*3 entries/,
    ),
  });
  expect(await readdir(join(tool.folder, 'rings'))).toEqual(['cities']);
  expect(await tool.json(`${typed} --yes`)).toMatchObject({ version: 2, changed: true });
});

test('a folder with a restored ring does not replace the history that it came from', async () => {
  const { tool, commit, fileOf } = await historyOf(2);
  const rings = join(tool.folder, 'theirs');
  const theirs = await ringBuilderHere({ rings });
  await theirs.json(`restore cities --from ${fileOf(2)}`);
  const restore = `restore cities --from ${rings} --replace`;
  expect(await tool.text(restore)).toMatch(/^nothing to do: the folder has this head, version 2/);
  await commit('third');
  await expect(tool.answer(`rebase cities --onto ${rings}`)).rejects.toMatchObject({
    code: 'LOGS_DIVERGED',
    hint: 'this history has the head of that folder: leave out --onto',
  });
  const back = { code: 'CONFIRMATION_NEEDED', details: { version: 3, given: 2 } };
  await expect(tool.answer(restore)).rejects.toMatchObject(back);

  // The other way round nothing is lost.
  const ours = join(tool.folder, 'rings');
  const behind = theirs.answer(`rebase cities --onto ${ours}`);
  const hint = expect.stringMatching(
    /^that history has the head of this folder; .* restore cities/,
  );
  await expect(behind).rejects.toMatchObject({ code: 'LOGS_DIVERGED', hint });
  expect(await theirs.json(`restore cities --from ${ours} --replace`)).toMatchObject({
    version: 3,
  });
  expect(await theirs.json('log cities')).toEqual(await tool.json('log cities'));
});
