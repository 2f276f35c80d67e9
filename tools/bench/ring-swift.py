# Runs one scenario with the library of swift-ring-builder: the first call of rebalance per step.
# Arguments: the scenario's file, and the seconds after which it stops. Prints a JSON line per step.
import copy
import json
import resource
import sys
import time

from swift.common.exceptions import RingValidationError
from swift.common.ring import RingBuilder

PORT = 6200


def device(row, number):
    region, zone, ip, name, weight = row
    return {
        'id': number, 'region': region, 'zone': zone, 'ip': ip, 'port': PORT, 'device': name,
        'weight': float(weight), 'meta': '', 'replication_ip': ip, 'replication_port': PORT,
    }


def change(builder, changes):
    for one in changes:
        if 'add' in one:
            builder.add_dev(device(one['add'], len(builder.devs)))
        elif 'remove' in one:
            builder.remove_dev(one['remove'])
        elif 'weight' in one:
            builder.set_dev_weight(one['weight'][0], float(one['weight'][1]))
        else:
            builder.set_replicas(one['replicas'])


def holders(builder):
    rows = builder._replica2part2dev or []
    return [set(row[p] for row in rows if p < len(row)) for p in range(builder.parts)]


def rebalance(scenario, step, builder, before):
    builder.pretend_min_part_hours_passed()
    wall, cpu = time.time(), time.process_time()
    builder.rebalance(seed=1000)
    wall, cpu = time.time() - wall, time.process_time() - cpu
    after = holders(builder)
    moved = sum(len(new - old) for new, old in zip(after, before)) if before else 0
    print(json.dumps({
        'scenario': scenario, 'step': step, 'seconds': wall, 'cpu': cpu, 'moved': moved,
        'balance': builder.get_balance(),
        'rssMb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }), flush=True)


def main(path, limit):
    with open(path) as file:
        scenario = json.load(file)
    name = path.rsplit('/', 1)[-1].rsplit('.', 1)[0]
    end = time.time() + float(limit)
    builder = RingBuilder(scenario['power'], scenario['replicas'], 0)
    builder.set_overload(scenario['overload'])
    for server in scenario['servers']:
        for disk, weight in enumerate(server['weights']):
            row = [server['region'], server['zone'], server['ip'], 'sd%03d' % disk, weight]
            builder.add_dev(device(row, len(builder.devs)))
    rebalance(name, 'build', builder, None)
    first = holders(builder)
    state = builder.to_dict()
    for step in scenario['steps']:
        if time.time() > end:
            return
        other = RingBuilder(1, 1, 0)
        other.copy_from(copy.deepcopy(state))
        change(other, step['changes'])
        rebalance(name, step['name'], other, first)
    for step in scenario['sequence']:
        if time.time() > end:
            return
        before = holders(builder)
        change(builder, step['changes'])
        rebalance(name, step['name'], builder, before)


try:
    main(sys.argv[1], sys.argv[2])
except RingValidationError as refusal:
    print('Swift refuses: %s' % refusal, file=sys.stderr)
