#!/bin/sh
//bin/sh -c :; bin="$(dirname "$(readlink -f "$0")")/../../node_modules/.bin"
//bin/sh -c :; exec env PATH="$bin:$PATH" node "$0" "$@"
// Program: ring-builder. From the second start on, it uses the code cache that Node compiled.
import { bundleOf } from '@ringwright/node/bundle';
import { prepareNode } from '@ringwright/node/prepare-node';

prepareNode('ring-builder');
await import(bundleOf('ring-builder') ?? './main.ts');
