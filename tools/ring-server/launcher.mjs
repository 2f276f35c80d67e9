#!/bin/sh
//bin/sh -c :; bin="$(dirname "$(readlink -f "$0")")/../../node_modules/.bin"
//bin/sh -c :; exec env PATH="$bin:$PATH" node "$0" "$@"
// Program: ring-server, from its second start on as Node has compiled it before.
import { bundleOf } from '@ringwright/node/bundle';
import { prepareNode } from '@ringwright/node/prepare-node';

const compiled = prepareNode('ring-server');
// For the process beside it, which copies and audits files.
if (compiled !== undefined) process.env.NODE_COMPILE_CACHE ??= compiled;
await import(bundleOf('ring-server') ?? './main.ts');
