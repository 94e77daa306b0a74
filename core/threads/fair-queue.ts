import { ApiError } from '../errors.ts';
import type { JobCost } from './job.ts';

export interface QueueLimits {
  /** The maximum number of running and waiting jobs of one tenant. */
  places: number;
  /** The maximum number of jobs of one tenant that run concurrently. */
  running: number;
  /** The maximum number of waiting jobs of all tenants. */
  waiting: number;
  /** The maximum bytes of the running and waiting jobs: `tenantBytes` for one tenant, `bytes` for all tenants. */
  tenantBytes: number;
  bytes: number;
}

interface Tenant<T> {
  waiting: T[];
  running: number;
  bytes: number;
}

/**
 * Jobs that wait for a thread, by tenant (the environment that a job is counted for). Tenants take turns, so a tenant
 * with many jobs delays another tenant by at most one job.
 */
export class FairQueue<T extends { cost: JobCost }> {
  readonly #limits: QueueLimits;
  /** In the order in which tenants take turns. */
  readonly #tenants = new Map<string, Tenant<T>>();
  #waiting = 0;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /**
   * @throws ApiError RATE_LIMITED if the tenant has too many jobs or bytes, SERVER_BUSY if all tenants together have
   */
  add(job: T): void {
    const { tenant, bytes } = job.cost;
    const state = this.#tenants.get(tenant) ?? { waiting: [], running: 0, bytes: 0 };
    const { places, tenantBytes, waiting, bytes: allBytes } = this.#limits;
    const jobs = state.waiting.length + state.running;
    // The first job of a tenant may exceed `tenantBytes`, because the size of single inputs was checked before.
    if (jobs >= places || (jobs > 0 && state.bytes + bytes > tenantBytes)) {
      throw new ApiError(
        'RATE_LIMITED',
        'The environment has too many operations of this kind running or waiting. Try again soon.',
      );
    }
    if (this.#waiting >= waiting || (this.#bytes > 0 && this.#bytes + bytes > allBytes)) {
      throw new ApiError(
        'SERVER_BUSY',
        'The server has too many operations of this kind running or waiting. Try again soon.',
      );
    }
    state.waiting.push(job);
    state.bytes += bytes;
    this.#tenants.set(tenant, state);
    this.#waiting++;
    this.#bytes += bytes;
  }

  /** Takes the next job that may run; undefined if there is none. Call `done` when the job has ended. */
  next(): T | undefined {
    for (const [name, tenant] of this.#tenants) {
      if (tenant.waiting.length === 0 || tenant.running >= this.#limits.running) continue;
      const job = tenant.waiting.shift() as T;
      tenant.running++;
      this.#waiting--;
      this.#tenants.delete(name);
      this.#tenants.set(name, tenant);
      return job;
    }
    return undefined;
  }

  done({ cost }: T): void {
    const tenant = this.#tenants.get(cost.tenant) as Tenant<T>;
    tenant.running--;
    tenant.bytes -= cost.bytes;
    this.#bytes -= cost.bytes;
    if (tenant.running === 0 && tenant.waiting.length === 0) this.#tenants.delete(cost.tenant);
  }

  /** Removes and returns all waiting jobs. */
  clear(): T[] {
    const jobs = [...this.#tenants.values()].flatMap(({ waiting }) => waiting.splice(0));
    for (const { cost } of jobs) {
      this.#bytes -= cost.bytes;
      const tenant = this.#tenants.get(cost.tenant) as Tenant<T>;
      tenant.bytes -= cost.bytes;
      if (tenant.running === 0) this.#tenants.delete(cost.tenant);
    }
    this.#waiting = 0;
    return jobs;
  }
}
