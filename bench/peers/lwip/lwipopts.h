/*
 * lwIP as one would set it up for speed: no assertions, no statistics, IPv4 and one of UDP and TCP,
 * no operating system. PEER_SUMS says whether sums are written and checked.
 */
#ifndef PEER_LWIPOPTS_H
#define PEER_LWIPOPTS_H
#define NO_SYS               1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET          0
#define LWIP_NETCONN         0
#define LWIP_IPV4            1
#define LWIP_IPV6            0
#define LWIP_ARP             0
#define LWIP_ETHERNET        0
#define LWIP_ICMP            1
#define LWIP_RAW             0
#define LWIP_UDP             (!PEER_TCP)
#define LWIP_TCP             PEER_TCP
#define LWIP_DHCP            0
#define MEM_ALIGNMENT        8
#define MEM_SIZE             (256 * 1024)
#define PBUF_POOL_SIZE       256
#define PBUF_POOL_BUFSIZE    1536
#define MEMP_NUM_PBUF        256
#define MEMP_NUM_TCP_SEG     256
#define MEMP_NUM_TCP_PCB     1200
#define TCP_MSS              1460
#define TCP_WND              (44 * TCP_MSS)
#define TCP_SND_BUF          (44 * TCP_MSS)
#define TCP_SND_QUEUELEN     200
#define LWIP_NOASSERT        1
#define LWIP_STATS           0
#define IP_REASSEMBLY        0
#define IP_FRAG              0
#define LWIP_CHKSUM_ALGORITHM PEER_ALGORITHM
#define CHECKSUM_GEN_IP      PEER_SUMS
#define CHECKSUM_GEN_UDP     PEER_SUMS
#define CHECKSUM_GEN_TCP     PEER_SUMS
#define CHECKSUM_GEN_ICMP    PEER_SUMS
#define CHECKSUM_CHECK_IP    PEER_SUMS
#define CHECKSUM_CHECK_UDP   PEER_SUMS
#define CHECKSUM_CHECK_TCP   PEER_SUMS
#define CHECKSUM_CHECK_ICMP  PEER_SUMS
#endif
