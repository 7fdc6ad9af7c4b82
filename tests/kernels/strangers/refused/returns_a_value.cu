int helper(int x) {
  return x;
}
int main() {
  helper<<<1, 32>>>(1);
  return 0;
}
