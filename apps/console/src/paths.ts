/** Every URL of the console, in one place. */
export const paths = {
  signIn: '/sign-in',
  overview: '/',
  volumes: '/volumes',
  volume: (id: string) => `/volumes/${id}`,
  nodes: '/nodes',
  node: (id: string) => `/nodes/${id}`,
  disk: (nodeId: string, id: string) => `/nodes/${nodeId}/disks/${id}`,
  topology: '/topology',
  capacity: '/capacity',
  organization: '/organization',
  rebuilds: '/rebuilds',
  alerts: '/alerts',
  events: '/events',
  whatIf: '/what-if',
  settings: '/settings',
  audit: '/audit',
};
