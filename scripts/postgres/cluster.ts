import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate PostgreSQL server, on a socket in a temporary directory. */
export interface Cluster {
  /** The directory of the socket. */
  socket: string;
  /** The directory of the data. */
  data: string;
  /** Returns the address of one of its databases. */
  url(database: string): string;
  /** Ends all processes of the server immediately, as a crash does. */
  kill(): void;
  /** Starts the server again after `kill`. The server recovers from its write-ahead log. */
  restart(): void;
  /** Ends the server and removes its data. */
  stop(): void;
  /** Starts another server, which is a standby of this one. */
  startStandby(): Standby;
  /** Stops all processes of the server with SIGSTOP, or lets them continue. */
  freeze(isFrozen: boolean): void;
}

export interface Standby extends Cluster {
  /** Makes the standby a primary. */
  promote(): void;
  /** Pauses or continues to replay the write-ahead log that the standby receives from the primary. */
  replay(isRunning: boolean): void;
}

const ROOT = '/usr/lib/postgresql';
/** Settings for speed, because the data need not survive a crash of the machine. */
const SETTINGS = [
  ...['fsync=off', 'full_page_writes=off', 'max_connections=500', 'shared_buffers=128MB', 'max_wal_size=4GB'],
  ...["listen_addresses=''", 'log_min_messages=fatal', 'logging_collector=off'],
];

/**
 * Returns the path of one of PostgreSQL's programs: in the directory `POSTGRES_BIN`, or if it is not there, of the
 * newest installed version that has it. A directory with binaries often lacks `psql` and `pgbench`; those of another
 * version work too.
 *
 * @throws Error if it is not installed
 */
export function postgresProgram(name: string): string {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];
  const chosen = process.env['POSTGRES_BIN'];
  const directories = [...(chosen ? [chosen] : []), ...versions.map((version) => join(ROOT, version, 'bin'))];
  const found = directories.map((directory) => join(directory, name)).find(existsSync);
  if (!found) throw new Error(`${name} is not installed below ${ROOT}: install Debian's package postgresql`);
  return found;
}

/** @param settings further settings of the server, such as `fsync=on` */
export function startCluster(settings: readonly string[] = []): Cluster {
  const host = createHost();
  host.run('initdb', ['-D', host.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);
  return serve(host, settings);
}

/** A directory for the data and the socket of a server, and its programs. */
interface Host {
  directory: string;
  data: string;
  run(program: string, args: string[]): void;
}

function createHost(): Host {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-pg-'));
  const user = serverUser();
  chmodSync(directory, 0o755);
  if (user) chownSync(directory, user.uid, user.gid);
  return {
    directory,
    data: join(directory, 'data'),
    run(program, args) {
      // `pg_ctl` leaves the server running in the background. If the server inherited the caller's pipes, these pipes
      // would stay open, and the caller would wait for their end.
      const stdio = ['ignore', 'ignore', 'inherit'] as const;
      const done = spawnSync(postgresProgram(program), args, { ...user, cwd: directory, stdio: [...stdio] });
      if (done.status !== 0) throw new Error(`${program} ended with ${done.status}`);
    },
  };
}

function serve({ directory, data, run }: Host, settings: readonly string[]): Standby {
  const options = [`unix_socket_directories='${directory}'`, ...SETTINGS, ...settings].map((each) => `-c ${each}`);
  const start = () => run('pg_ctl', ['-D', data, '-l', join(directory, 'log'), '-w', '-o', options.join(' '), 'start']);
  const kill = () => run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop']);
  start();
  return {
    socket: directory,
    data,
    url: (database) => addressOf(directory, database),
    kill,
    restart: start,
    stop() {
      if (existsSync(join(data, 'postmaster.pid'))) kill();
      rmSync(directory, { recursive: true, force: true });
    },
    startStandby() {
      const standby = createHost();
      copyData(run, directory, data, standby.data);
      return serve(standby, settings);
    },
    freeze(isFrozen) {
      const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
      const children = spawnSync('pgrep', ['-P', pid], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
      for (const each of [pid, ...children]) process.kill(Number(each), isFrozen ? 'SIGSTOP' : 'SIGCONT');
    },
    replay: (isRunning) =>
      run('psql', [
        '-q',
        '-h',
        directory,
        '-U',
        'postgres',
        '-c',
        `select pg_wal_replay_${isRunning ? 'resume' : 'pause'}()`,
      ]),
    promote: () => run('pg_ctl', ['-D', data, '-w', 'promote']),
  };
}

/**
 * Makes a standby's directory from the data of a running server. `pg_basebackup` refuses servers of a newer version
 * than its own, and directories with the binaries of another version often lack it.
 */
function copyData(run: Host['run'], socket: string, from: string, to: string): void {
  const address = `primary_conninfo = 'host=${socket} user=postgres'`;
  const script = [
    String.raw`\! mkdir -m 700 ${to}`,
    "select pg_backup_start('standby', true)",
    String.raw`\! tar -C ${from} --exclude='./postmaster.*' --exclude='./pg_wal/?*' --warning=no-file-changed -c . | tar -C ${to} -x`,
    String.raw`\! touch ${to}/standby.signal; echo "${address}" >> ${to}/postgresql.auto.conf`,
    String.raw`\o ${to}/backup_label`,
    'select labelfile from pg_backup_stop(false)',
  ];
  const options = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', socket, '-U', 'postgres'];
  run('psql', [...options, ...script.flatMap((line) => ['-c', line])]);
}

export function addressOf(socket: string, database: string): string {
  return `postgres://postgres@localhost/${database}?host=${encodeURIComponent(socket)}`;
}

/**
 * Returns the ids of the user `postgres` if this process runs as root, because the server refuses to run as root;
 * otherwise undefined.
 */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
