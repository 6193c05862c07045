assert open('/app/answer.txt').read() == '42'
