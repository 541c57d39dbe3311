/** Users, balancer and servers, drawn. */
export function Drawing() {
  return <p>Drawing</p>
}
