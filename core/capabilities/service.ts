/** Whether the service can work. */
export interface Service {
  readiness(): { database: boolean; keys: boolean };
}
