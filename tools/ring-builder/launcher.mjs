#!/bin/sh
//bin/sh -c :; bin="$(dirname "$(readlink -f "$0")")/../../node_modules/.bin"
//bin/sh -c :; exec env PATH="$bin:$PATH" node "$0" "$@"
// Program: ring-builder. From its second start on, it runs code that Node has compiled before.
import { bundleOf } from '@ringwright/node/bundle';
import { prepareNode } from '@ringwright/node/prepare-node';

prepareNode('ring-builder');
// Half of these threads resolve names, each for seconds if no resolver answers: one for each server
// that is asked at the same time (serversAtOnceMax).
process.env.UV_THREADPOOL_SIZE ??= '64';
await import(bundleOf('ring-builder') ?? './main.ts');
